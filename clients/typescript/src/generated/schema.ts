/** Made from openapi.json by `npm run openapi`. Do not edit it. */

export interface paths {
    "/auth/app/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get tokens for an app
         * @description Exchanges an app’s key and secret for an access token and a refresh token.
         */
        post: operations["issueAppTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get new tokens for a refresh token
         * @description Spends the refresh token: it is good once. Using a spent one again ends every token that came from the same log-in. A log-in ends after 30 days, however often it was refreshed.
         */
        post: operations["refreshTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log a person in
         * @description Whoever uses one-time passwords sends one as `otp`, or a recovery code, which is good once. The password is checked first.
         */
        post: operations["logIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/set-up/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set your password by a link
         * @description The operator gives nobody a password: a link comes by e-mail, and its page calls this. The link is good once, for 24 hours. All your sessions end.
         */
        post: operations["setUpPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/set-up/secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read the secret of an app by a link
         * @description When the operator makes an app, or gives it a new secret, a link goes to the merchant’s e-mail address, and its page calls this. The link is good once, for 24 hours.
         */
        post: operations["readSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your own sessions
         * @description For people. A session is a log-in and all tokens that came from it. Newest first, without those that have ended.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End one of your own sessions
         * @description For people. Its tokens are refused at once.
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change your own password
         * @description For people. This session goes on with the tokens that it has; all your other sessions end.
         */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/totp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to set up one-time passwords
         * @description For people. Answers a secret for an authenticator app (RFC 6238: six digits, 30 seconds), as text and as the address of a QR code. Log-ins stay as they are until you confirm it; beginning again replaces it.
         */
        post: operations["beginTotp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/totp/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Switch one-time passwords on
         * @description For people. Takes a first one-time password and answers ten recovery codes, once: each is good once, in place of `otp`. From now on `POST /auth/login` needs `otp`. All your other sessions end. This one goes on; what requires a one-time password needs a new log-in.
         */
        post: operations["confirmTotp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/totp/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Switch one-time passwords off
         * @description For people. The secret and the recovery codes end. No session counts as begun with a one-time password any more.
         */
        post: operations["disableTotp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/totp/recovery-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get new recovery codes
         * @description For people. The old codes end.
         */
        post: operations["replaceRecoveryCodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/access/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let new access send money out
         * @description For users with the role Admin. Passwords, roles and secrets that the operator has just given send no payouts, transfers and reversals for some hours, so that you can notice. This ends the wait of an app or a person of yours. Your own access must be older.
         */
        post: operations["releaseAccess"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log out
         * @description Ends the session of the token at once: its access tokens and its refresh token. Apps may do so too.
         */
        post: operations["logOut"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/checkouts/initiate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Charge a customer
         * @description Records the collection and prompts the customer. The outcome comes as a webhook to `callback_url`; the answer only says that it was accepted.
         */
        post: operations["initiateCollection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/checkouts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List collections
         * @description Newest first. Follow `next`: it stays in step while collections are added.
         */
        get: operations["listCollections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/checkouts/{checkout_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one collection */
        get: operations["getCollection"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List collections (deprecated)
         * @deprecated
         * @description Will be removed in a future version; use `GET /wallets/transactions`.
         */
        get: operations["listCollectionsDeprecated"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payouts/initiate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pay a recipient
         * @description Debits the payout wallet and sends the money to a phone or a bank account. The outcome comes as a webhook to `callback_url`; the money of a payout that fails is put back into the wallet first, and until then its status is `processing`: do not pay again before it is `failed`.
         */
        post: operations["initiatePayout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payouts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List payouts
         * @description Newest first. Follow `next`: it stays in step while payouts are added.
         */
        get: operations["listPayouts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payouts/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List payouts (deprecated)
         * @deprecated
         * @description Will be removed in a future version; use `GET /wallets/transactions`.
         */
        get: operations["listPayoutsDeprecated"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payouts/{payout_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one payout */
        get: operations["getPayout"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reversals/initiate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a collection back
         * @description Gives a completed collection back to the customer, in full. Waits up to 10 s for the network to take it: status 1 says that it has, not that it is done; status 0 that the receipt of the collection is awaited first, or that your payouts and reversals are held. The outcome comes as a webhook to `callback_url`. After a 502 the reversal is recorded and goes on: never send it under another `ref_no` before it has failed. Ask `GET /reversals/{ref_no}`, or send the same request with the same Idempotency-Key again: it answers 200 with the reversal as it is then, and Idempotent-Replayed: true.
         */
        post: operations["initiateReversal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reversals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List reversals
         * @description Newest first. Follow `next`: it stays in step while reversals are added.
         */
        get: operations["listReversals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reversals/{ref_no}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one reversal */
        get: operations["getReversal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the balances of both wallets */
        get: operations["getBalance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List wallet transactions
         * @description Every movement of both wallets, newest first, with the balance after it.
         */
        get: operations["listTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/transfers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move money to the payout wallet
         * @description From the collection wallet to the payout wallet, at once.
         */
        post: operations["createTransfer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List payment channels */
        get: operations["listChannels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read your events in order
         * @description The feed to catch up from: every event after `after`, ascending by `sequence`, with the body of its webhook. Remember the highest `sequence` that you have processed, and ask for what comes after it. Numbers are given after the commit and in order: no event ever appears below a number that you have read, so you miss none. `next` is null when there is no more for now. `previous` is always null.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks with what became of them
         * @description Newest first. A webhook is listed as soon as its event has a number. Follow `next`: it stays in step while webhooks are added.
         */
        get: operations["listWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one webhook
         * @description Its body, every attempt with what your receiver answered, and when and why the next one comes. The id is the `webhook-id`.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/deliveries/{id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send one webhook again
         * @description Now, whatever became of it, under the same `webhook-id` and with the same body. The waits after failures begin anew. One that is under way or due stays as it is: `resent` is false. If its receiver is held, the receiver is tried at once.
         */
        post: operations["resendWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send again what you did not take
         * @description All webhooks of a time that you have never taken: those that were given up, and those whose next attempt is not due yet. Oldest first, 1,000 at most: while `remaining` is not 0, ask again. A receiver that is held is tried at once. Those that you stopped with 410 are left out, and so are those that wait for our support (`waits_for` is `support`): send these again one by one. Each goes once, under its own `webhook-id`, however often you ask.
         */
        post: operations["recoverWebhooks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your receivers with their state
         * @description Those that do not work first. The order changes as their states do. An endpoint (scheme, host and port of your callback URLs) is listed from its first attempt on, until thirteen months without one.
         */
        get: operations["listWebhookEndpoints"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try your receiver
         * @description Sends one example to `callback_url` now, and answers with what came back. It is signed as the webhooks of the app are. `notification` says `test` and `webhook.test`, the fields are those of a collection, and all values are made up: there is no payment. `X-Service-Event-Sequence` is 0. Nothing is recorded, and nothing is sent again. One at a time; each of our processes counts its own.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    collectionEnded: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A collection has ended
         * @description POSTed to the `callback_url` of the collection. If the status or the amount changes afterwards, one more follows, with a higher sequence: the last one is true. Answer 2xx within 10 s, even if your own processing fails; anything else is tried again, up to 11 times over three days. 410 stops it.
         */
        post: operations["collectionEnded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    payoutEnded: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A payout has ended
         * @description POSTed to the `callback_url` of the payout; of one that failed when its money is back in the wallet. If the status or the amount changes afterwards, one more follows, with a higher sequence: the last one is true. Answer 2xx within 10 s, even if your own processing fails; anything else is tried again, up to 11 times over three days. 410 stops it.
         */
        post: operations["payoutEnded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    reversalEnded: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A reversal has ended
         * @description POSTed to the `callback_url` of the reversal. If the status or the amount changes afterwards, one more follows, with a higher sequence: the last one is true. Answer 2xx within 10 s, even if your own processing fails; anything else is tried again, up to 11 times over three days. 410 stops it.
         */
        post: operations["reversalEnded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    webhookTested: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * An example for a receiver that is tried
         * @description POSTed to the `callback_url` of `POST /webhooks/test`, once. All values are made up, and there is no payment: answer it as any webhook, and book nothing.
         */
        post: operations["webhookTested"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        Tokens: {
            /**
             * @description Access token, good for 15 minutes
             * @example eyJhbGciOiJIUzI1NiIs…
             */
            access: string;
            /**
             * @description Refresh token, good for 7 days, once
             * @example eyJhbGciOiJIUzI1NiIs…
             */
            refresh: string;
            /**
             * @description The number of your merchant account
             * @example 1001
             */
            merchant_id: number;
            /**
             * @description The same as `merchant_id`
             * @example 1001
             */
            merchant_code: number;
            /**
             * @description The number of the app; null for people
             * @example 5001
             */
            app_code: number | null;
            /**
             * @description Products of the app; null for people
             * @example [
             *       "collections",
             *       "payouts"
             *     ]
             */
            products: ("collections" | "payouts" | "disbursements")[] | null;
            /**
             * @description The name of the merchant
             * @example Duka la Mfano
             */
            name: string;
            /**
             * @description The merchant’s e-mail address
             * @example owner@duka.example
             */
            email: string;
            /**
             * @description The merchant’s phone
             * @example +254711000001
             */
            phone_number: string;
            /** @description The profile is not approved yet */
            requires_verification: boolean;
            /**
             * @description What was done
             * @example Token issued
             */
            message: string;
        };
        AppSecret: {
            /**
             * @description The number of the app
             * @example 5001
             */
            app_code: number;
            /**
             * @description The key of the app
             * @example ak_3f0c…
             */
            app_key: string;
            /**
             * @description `app`: the app secret. `own`: a secret that signs webhooks alone
             * @example app
             * @enum {string}
             */
            kind: "app" | "own";
            /**
             * @description It is not shown again
             * @example as_9Kx…
             */
            secret: string;
        };
        NewTotp: {
            /**
             * @description In base32, to type in
             * @example JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP
             */
            secret: string;
            /**
             * @description The same as an address; show it as a QR code
             * @example otpauth://totp/Malipo:owner%40duka.example?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Malipo
             */
            otpauth_uri: string;
        };
        RecoveryCodes: {
            /**
             * @description Ten codes, each good once. They are not shown again
             * @example [
             *       "3f9a1-c04be-7d218-9e6f5"
             *     ]
             */
            recovery_codes: string[];
        };
        Session: {
            /**
             * Format: uuid
             * @description The id of the session
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            id: string;
            /**
             * Format: date-time
             * @description The log-in. ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The last refresh, or the log-in: one that is in use is refreshed every 15 minutes
             * @example 2026-11-20T09:30:00.000Z
             */
            refreshed_at: string;
            /**
             * Format: date-time
             * @description It ends then, unless it is refreshed before
             * @example 2026-11-20T09:30:00.000Z
             */
            expires_at: string;
            /**
             * Format: date-time
             * @description It ends then, however often it is refreshed
             * @example 2026-11-20T09:30:00.000Z
             */
            ends_at: string;
            /**
             * @description From where it was refreshed last, or begun; null when that is not known
             * @example 203.0.113.7
             */
            address: string | null;
            /** @description It was begun with a one-time password */
            with_otp: boolean;
            /** @description It is the session of this request */
            current: boolean;
        };
        InitiatedCollection: {
            /**
             * Format: uuid
             * @description Our id, a UUID
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            id: string;
            /**
             * Format: kenyan-mobile
             * @description The customer’s phone
             * @example +254712345678
             */
            payfrom: string;
            /**
             * @description In KES
             * @example 250.00
             */
            amount: string;
            /**
             * @description Your reference: letters, digits, - and _; unique among your records of this kind
             * @example order-1001
             */
            ref_no: string;
            /**
             * Format: plain-text
             * @description What the customer pays for, as shown in the prompt
             * @example INV-7
             */
            account_number: string;
            /**
             * Format: callback-url
             * @description Where the outcome is POSTed: absolute http(s) without user information; https in production, there on port 443 or 8443 unless the operator allows others
             * @example https://shop.example/webhooks
             */
            callback_url: string;
            /**
             * @description `pending`: recorded. `processing`: with the gateway, or about to be. `completed` and `failed`: ended
             * @enum {string}
             */
            status: "pending" | "processing" | "completed" | "failed";
            /**
             * @description Always `other`
             * @example other
             */
            category: string;
            /**
             * @description DD/MM/YYYY HH:MM:SS, UTC
             * @example 20/11/2026 09:30:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @description `created_at` in ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at_iso: string;
        };
        Collection: {
            /**
             * Format: uuid
             * @description Our id, a UUID
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            id: string;
            /**
             * Format: kenyan-mobile
             * @description The customer’s phone
             * @example +254712345678
             */
            payfrom: string;
            /**
             * @description In KES
             * @example 250.00
             */
            amount: string;
            /**
             * @description Your reference: letters, digits, - and _; unique among your records of this kind
             * @example order-1001
             */
            ref_no: string;
            /**
             * Format: plain-text
             * @description What the customer pays for, as shown in the prompt
             * @example INV-7
             */
            account_number: string;
            /**
             * Format: callback-url
             * @description Where the outcome is POSTed: absolute http(s) without user information; https in production, there on port 443 or 8443 unless the operator allows others
             * @example https://shop.example/webhooks
             */
            callback_url: string;
            /**
             * @description `pending`: recorded. `processing`: with the gateway, or about to be. `completed` and `failed`: ended
             * @enum {string}
             */
            status: "pending" | "processing" | "completed" | "failed";
            /**
             * @description Always `other`
             * @example other
             */
            category: string;
            /**
             * @description DD/MM/YYYY HH:MM:SS, UTC
             * @example 20/11/2026 09:30:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @description `created_at` in ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at_iso: string;
            /** @description 0 on success; null while open */
            result_code: number | null;
            /** @description The gateway’s words about the result; null while open */
            result_description: string | null;
            /** @description The network’s receipt; null while there is none */
            trans_id: string | null;
            /** @description The gateway’s reference; null while there is none */
            external_ref: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC; null while open
             * @example null
             */
            payment_completed_at: string | null;
            /**
             * @description KES, what we keep; 0.00 of one that failed
             * @example 3.75
             */
            commission: string;
            /**
             * @description KES, what your wallet gets; 0.00 of one that failed
             * @example 246.25
             */
            net_amount: string;
        };
        CollectionDetail: {
            /**
             * Format: uuid
             * @description Our id, a UUID
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            id: string;
            /**
             * Format: kenyan-mobile
             * @description The customer’s phone
             * @example +254712345678
             */
            payfrom: string;
            /**
             * @description In KES
             * @example 250.00
             */
            amount: string;
            /**
             * @description Your reference: letters, digits, - and _; unique among your records of this kind
             * @example order-1001
             */
            ref_no: string;
            /**
             * Format: plain-text
             * @description What the customer pays for, as shown in the prompt
             * @example INV-7
             */
            account_number: string;
            /**
             * Format: callback-url
             * @description Where the outcome is POSTed: absolute http(s) without user information; https in production, there on port 443 or 8443 unless the operator allows others
             * @example https://shop.example/webhooks
             */
            callback_url: string;
            /**
             * @description `pending`: recorded. `processing`: with the gateway, or about to be. `completed` and `failed`: ended
             * @enum {string}
             */
            status: "pending" | "processing" | "completed" | "failed";
            /**
             * @description Always `other`
             * @example other
             */
            category: string;
            /**
             * @description DD/MM/YYYY HH:MM:SS, UTC
             * @example 20/11/2026 09:30:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @description `created_at` in ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at_iso: string;
            /** @description 0 on success; null while open */
            result_code: number | null;
            /** @description The gateway’s words about the result; null while open */
            result_description: string | null;
            /** @description The network’s receipt; null while there is none */
            trans_id: string | null;
            /** @description The gateway’s reference; null while there is none */
            external_ref: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC; null while open
             * @example null
             */
            payment_completed_at: string | null;
            /**
             * @description KES, what we keep; 0.00 of one that failed
             * @example 3.75
             */
            commission: string;
            /**
             * @description KES, what your wallet gets; 0.00 of one that failed
             * @example 246.25
             */
            net_amount: string;
            /**
             * @description Who asked for it: `app`, or a user’s e-mail. Only users with the role Admin get it
             * @example owner@duka.example
             */
            created_by?: string;
        };
        DeprecatedCollection: {
            /**
             * Format: uuid
             * @description Our id, a UUID
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            id: string;
            /**
             * Format: kenyan-mobile
             * @description The customer’s phone
             * @example +254712345678
             */
            payfrom: string;
            /**
             * @description In KES
             * @example 250.00
             */
            amount: string;
            /**
             * @description Your reference: letters, digits, - and _; unique among your records of this kind
             * @example order-1001
             */
            ref_no: string;
            /**
             * Format: plain-text
             * @description What the customer pays for, as shown in the prompt
             * @example INV-7
             */
            account_number: string;
            /**
             * Format: callback-url
             * @description Where the outcome is POSTed: absolute http(s) without user information; https in production, there on port 443 or 8443 unless the operator allows others
             * @example https://shop.example/webhooks
             */
            callback_url: string;
            /**
             * @description `pending` while open, then `completed` or `failed`
             * @enum {string}
             */
            status: "pending" | "completed" | "failed";
            /**
             * @description Always `other`
             * @example other
             */
            category: string;
            /**
             * @description DD/MM/YYYY HH:MM:SS, UTC
             * @example 20/11/2026 09:30:00
             */
            created_at: string;
        };
        InitiatedPayout: {
            /**
             * Format: uuid
             * @description Our id, a UUID
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            id: string;
            /**
             * @description The recipient’s phone or bank account
             * @example +254712345678
             */
            payto: string;
            /**
             * @description In KES
             * @example 250.00
             */
            amount: string;
            /**
             * @description Your reference: letters, digits, - and _; unique among your records of this kind
             * @example order-1001
             */
            ref_no: string;
            /**
             * @description `pending`: recorded. `processing`: with the gateway, or about to be. `completed` and `failed`: ended
             * @enum {string}
             */
            status: "pending" | "processing" | "completed" | "failed";
            /**
             * @description What you pay for
             * @example other
             * @enum {string}
             */
            category: "ecommerce" | "gaming" | "adult_content" | "forex" | "other";
            /**
             * @description The code of the channel
             * @example 63902
             */
            channel: number;
            /**
             * @description The name of the channel
             * @example M-PESA
             */
            channel_name: string;
            /**
             * @description What the channel carries money to
             * @enum {string}
             */
            channel_type: "Mobile Money" | "Bank";
            /**
             * @description DD/MM/YYYY HH:MM:SS, UTC
             * @example 20/11/2026 09:30:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @description `created_at` in ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at_iso: string;
        };
        Payout: {
            /**
             * Format: uuid
             * @description Our id, a UUID
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            id: string;
            /**
             * @description The recipient’s phone or bank account
             * @example +254712345678
             */
            payto: string;
            /**
             * @description In KES
             * @example 250.00
             */
            amount: string;
            /**
             * @description Your reference: letters, digits, - and _; unique among your records of this kind
             * @example order-1001
             */
            ref_no: string;
            /**
             * @description `pending`: recorded. `processing`: with the gateway, or about to be. `completed` and `failed`: ended. `failed` once the money is back in the wallet
             * @enum {string}
             */
            status: "pending" | "processing" | "completed" | "failed";
            /**
             * @description What you pay for
             * @example other
             * @enum {string}
             */
            category: "ecommerce" | "gaming" | "adult_content" | "forex" | "other";
            /**
             * @description DD/MM/YYYY HH:MM:SS, UTC
             * @example 20/11/2026 09:30:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @description `created_at` in ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at_iso: string;
            /** @description 0 on success; null while open */
            result_code: number | null;
            /** @description The gateway’s words about the result; null while open */
            result_description: string | null;
            /** @description The network’s receipt; null while there is none */
            trans_id: string | null;
            /** @description The gateway’s reference; null while there is none */
            external_ref: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC; null while open
             * @example null
             */
            payment_completed_at: string | null;
            /**
             * @description The code of the channel
             * @example 63902
             */
            channel: number;
            /**
             * @description The name of the channel
             * @example M-PESA
             */
            channel_name: string;
            /**
             * @description What the channel carries money to
             * @enum {string}
             */
            channel_type: "Mobile Money" | "Bank";
            /**
             * @description What was sent to the gateway
             * @example Salary November
             */
            narration: string;
            /**
             * @description KES, debited with the amount
             * @example 0.00
             */
            fee: string;
        };
        PayoutDetail: {
            /**
             * Format: uuid
             * @description Our id, a UUID
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            id: string;
            /**
             * @description The recipient’s phone or bank account
             * @example +254712345678
             */
            payto: string;
            /**
             * @description In KES
             * @example 250.00
             */
            amount: string;
            /**
             * @description Your reference: letters, digits, - and _; unique among your records of this kind
             * @example order-1001
             */
            ref_no: string;
            /**
             * @description `pending`: recorded. `processing`: with the gateway, or about to be. `completed` and `failed`: ended. `failed` once the money is back in the wallet
             * @enum {string}
             */
            status: "pending" | "processing" | "completed" | "failed";
            /**
             * @description What you pay for
             * @example other
             * @enum {string}
             */
            category: "ecommerce" | "gaming" | "adult_content" | "forex" | "other";
            /**
             * @description DD/MM/YYYY HH:MM:SS, UTC
             * @example 20/11/2026 09:30:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @description `created_at` in ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at_iso: string;
            /** @description 0 on success; null while open */
            result_code: number | null;
            /** @description The gateway’s words about the result; null while open */
            result_description: string | null;
            /** @description The network’s receipt; null while there is none */
            trans_id: string | null;
            /** @description The gateway’s reference; null while there is none */
            external_ref: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC; null while open
             * @example null
             */
            payment_completed_at: string | null;
            /**
             * @description The code of the channel
             * @example 63902
             */
            channel: number;
            /**
             * @description The name of the channel
             * @example M-PESA
             */
            channel_name: string;
            /**
             * @description What the channel carries money to
             * @enum {string}
             */
            channel_type: "Mobile Money" | "Bank";
            /**
             * @description What was sent to the gateway
             * @example Salary November
             */
            narration: string;
            /**
             * @description KES, debited with the amount
             * @example 0.00
             */
            fee: string;
            /**
             * @description Who asked for it: `app`, or a user’s e-mail. Only users with the role Admin get it
             * @example owner@duka.example
             */
            created_by?: string;
        };
        DeprecatedPayout: {
            /**
             * Format: uuid
             * @description Our id, a UUID
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            id: string;
            /**
             * @description The recipient’s phone or bank account
             * @example +254712345678
             */
            payto: string;
            /**
             * @description In KES
             * @example 250.00
             */
            amount: string;
            /**
             * @description Your reference: letters, digits, - and _; unique among your records of this kind
             * @example order-1001
             */
            ref_no: string;
            /**
             * @description `pending` while open, then `completed` or `failed`
             * @enum {string}
             */
            status: "pending" | "completed" | "failed";
            /**
             * @description What you pay for
             * @example other
             * @enum {string}
             */
            category: "ecommerce" | "gaming" | "adult_content" | "forex" | "other";
            /**
             * @description DD/MM/YYYY HH:MM:SS, UTC
             * @example 20/11/2026 09:30:00
             */
            created_at: string;
        };
        Reversal: {
            /**
             * Format: uuid
             * @description Our id, a UUID
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            id: string;
            /**
             * @description Your reference: letters, digits, - and _; unique among your records of this kind
             * @example refund-1001
             */
            ref_no: string;
            /**
             * @description Your reference of the collection
             * @example order-1001
             */
            checkout_ref_no: string;
            /**
             * @description The network’s receipt of the collection; null while it is not known
             * @example TKJ7A1B2C3
             */
            original_trans_id: string | null;
            /**
             * @description KES, what the customer gets
             * @example 250.00
             */
            amount: string;
            /**
             * @description KES, what the collection wallet gives
             * @example 246.25
             */
            reversed_net_amount: string;
            /**
             * @description KES, commission that you get back
             * @example 3.75
             */
            reversed_commission: string;
            /**
             * @description 0 unprocessed, 1 processed, 2 failed, 3 reversed
             * @example 1
             * @enum {integer}
             */
            status: 0 | 1 | 2 | 3;
            /**
             * @description `status` as a word
             * @example processed
             * @enum {string}
             */
            status_label: "unprocessed" | "processed" | "failed" | "reversed";
            /**
             * @description The gateway’s words about the result; null while open
             * @example null
             */
            result_description: string | null;
            /**
             * @description The network’s receipt of the reversal itself; null while there is none
             * @example null
             */
            trans_id: string | null;
            /**
             * @description Your reason; null when you gave none
             * @example Out of stock
             */
            reason: string | null;
            /**
             * Format: date-time
             * @description When it was recorded. ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC; null while open
             * @example null
             */
            payment_completed_at: string | null;
        };
        ReversalDetail: {
            /**
             * Format: uuid
             * @description Our id, a UUID
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            id: string;
            /**
             * @description Your reference: letters, digits, - and _; unique among your records of this kind
             * @example refund-1001
             */
            ref_no: string;
            /**
             * @description Your reference of the collection
             * @example order-1001
             */
            checkout_ref_no: string;
            /**
             * @description The network’s receipt of the collection; null while it is not known
             * @example TKJ7A1B2C3
             */
            original_trans_id: string | null;
            /**
             * @description KES, what the customer gets
             * @example 250.00
             */
            amount: string;
            /**
             * @description KES, what the collection wallet gives
             * @example 246.25
             */
            reversed_net_amount: string;
            /**
             * @description KES, commission that you get back
             * @example 3.75
             */
            reversed_commission: string;
            /**
             * @description 0 unprocessed, 1 processed, 2 failed, 3 reversed
             * @example 1
             * @enum {integer}
             */
            status: 0 | 1 | 2 | 3;
            /**
             * @description `status` as a word
             * @example processed
             * @enum {string}
             */
            status_label: "unprocessed" | "processed" | "failed" | "reversed";
            /**
             * @description The gateway’s words about the result; null while open
             * @example null
             */
            result_description: string | null;
            /**
             * @description The network’s receipt of the reversal itself; null while there is none
             * @example null
             */
            trans_id: string | null;
            /**
             * @description Your reason; null when you gave none
             * @example Out of stock
             */
            reason: string | null;
            /**
             * Format: date-time
             * @description When it was recorded. ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC; null while open
             * @example null
             */
            payment_completed_at: string | null;
            /**
             * @description Who asked for it: `app`, or a user’s e-mail. Only users with the role Admin get it
             * @example owner@duka.example
             */
            created_by?: string;
        };
        WalletBalance: {
            /**
             * @description What you can pay out, in KES
             * @example 250.00
             */
            payout_wallet_balance: string;
            /**
             * @description What customers have paid you, in KES. May be below zero
             * @example 250.00
             */
            collection_wallet_balance: string;
            /**
             * @description The currency of both
             * @constant
             */
            currency: "KES";
        };
        WalletTransaction: {
            /**
             * Format: uuid
             * @description The id of this movement
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            id: string;
            /**
             * @description Which wallet moved
             * @enum {string}
             */
            wallet: "collection" | "payout";
            /**
             * @description What moved it
             * @enum {string}
             */
            type: "collection" | "payout" | "fee" | "payout_refund" | "fee_refund" | "reversal" | "topup" | "transfer" | "adjustment";
            /**
             * @description `credit` into the wallet, `debit` out of it
             * @enum {string}
             */
            direction: "credit" | "debit";
            /**
             * @description In KES, never below zero
             * @example 250.00
             */
            amount: string;
            /**
             * @description The balance of the wallet after it, in KES
             * @example 250.00
             */
            balance_after: string;
            /**
             * @description Your reference of the payment or transfer; null when there is none
             * @example order-1001
             */
            ref_no: string | null;
            /** @description The other side: phone or bank account; null when there is none */
            account: string | null;
            /** @description The network’s receipt; null when there is none */
            trans_id: string | null;
            /**
             * @description What it is, in words
             * @example Collection, net of commission
             */
            description: string;
            /**
             * Format: date-time
             * @description When it was booked. ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
        };
        Channel: {
            /**
             * @description The code of the channel
             * @example 63902
             */
            code: number;
            /**
             * @description The name of the channel
             * @example M-PESA
             */
            name: string;
            /**
             * @description What the channel carries money to
             * @enum {string}
             */
            type: "Mobile Money" | "Bank";
            /** @description Takes new payments now */
            active: boolean;
            /**
             * @description The least that one payment may have, in KES
             * @example 250.00
             */
            min_amount: string;
            /**
             * @description The most that one payment may have, in KES
             * @example 250.00
             */
            max_amount: string;
            /** @description Takes no cents */
            whole_shillings: boolean;
            /** @description The amounts of collections; null when the channel carries none */
            collections: {
                /** @description Takes new payments now */
                active: boolean;
                /**
                 * @description The least that one payment may have, in KES
                 * @example 250.00
                 */
                min_amount: string;
                /**
                 * @description The most that one payment may have, in KES
                 * @example 250.00
                 */
                max_amount: string;
                /** @description Takes no cents */
                whole_shillings: boolean;
            } | null;
            /** @description The amounts of payouts; null when the channel carries none */
            payouts: {
                /** @description Takes new payments now */
                active: boolean;
                /**
                 * @description The least that one payment may have, in KES
                 * @example 250.00
                 */
                min_amount: string;
                /**
                 * @description The most that one payment may have, in KES
                 * @example 250.00
                 */
                max_amount: string;
                /** @description Takes no cents */
                whole_shillings: boolean;
            } | null;
        };
        Event: {
            /**
             * Format: uuid
             * @description The id of the event, in the header `webhook-id`
             * @example 01a1f87d-8c11-7d0e-9a54-1b2f6e0c7a3d
             */
            id: string;
            /**
             * @description The number of the event, in the header `X-Service-Event-Sequence`
             * @example 42
             */
            sequence: number;
            /**
             * @description How the payment ended
             * @example transaction.completed
             * @enum {string}
             */
            event: "transaction.completed" | "transaction.failed";
            /**
             * @description The kind of the payment
             * @example collection
             * @enum {string}
             */
            type: "collection" | "payout" | "reversal";
            /**
             * Format: uuid
             * @description The id of the payment
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            payment_id: string;
            /**
             * @description Your reference of the payment
             * @example order-1001
             */
            ref_no: string | null;
            /**
             * Format: date-time
             * @description The time of the event. ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description The body of the webhook, as JSON. To verify a signature you need the bytes received
             * @example {
             *       "notification": {
             *         "type": "collection",
             *         "event": "transaction.completed"
             *       },
             *       "data": {
             *         "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
             *         "result_code": 0,
             *         "result_description": "The service request is processed successfully.",
             *         "amount": "250.00",
             *         "ref_no": "order-1001",
             *         "beneficiary": {
             *           "account": "+254712345678",
             *           "kyc": null
             *         },
             *         "transaction_date": "2026-11-20T09:30:00.000Z",
             *         "external_ref": "ws_CO_20112026093000",
             *         "trans_id": "TKJ7A1B2C3"
             *       }
             *     }
             */
            payload: Record<string, never>;
        };
        Webhook: {
            /**
             * Format: uuid
             * @description The id of the event, in the header `webhook-id`
             * @example 01a1f87d-8c11-7d0e-9a54-1b2f6e0c7a3d
             */
            id: string;
            /**
             * @description The number of the event, in the header `X-Service-Event-Sequence`
             * @example 42
             */
            sequence: number;
            /**
             * @description How the payment ended
             * @example transaction.completed
             * @enum {string}
             */
            event: "transaction.completed" | "transaction.failed";
            /**
             * @description The kind of the payment
             * @example collection
             * @enum {string}
             */
            type: "collection" | "payout" | "reversal";
            /**
             * Format: uuid
             * @description The id of the payment
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            payment_id: string;
            /**
             * @description Your reference of the payment
             * @example order-1001
             */
            ref_no: string | null;
            /**
             * Format: date-time
             * @description The time of the event. ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: callback-url
             * @description Where it is POSTed
             * @example https://shop.example/webhooks
             */
            callback_url: string;
            /**
             * @description `pending`: attempts follow. `delivered`: you have taken it. `exhausted`: every attempt failed, and none follows by itself. `stopped`: you answered 410
             * @example pending
             * @enum {string}
             */
            status: "exhausted" | "stopped" | "pending" | "delivered";
            /**
             * @description Attempts so far, those before a resend included
             * @example 1
             */
            attempts: number;
            /**
             * Format: date-time
             * @description The first time that you took it; null before. ISO 8601, UTC
             * @example null
             */
            delivered_at: string | null;
            /**
             * Format: date-time
             * @description The last attempt; null before the first, and some months after the last. ISO 8601, UTC
             * @example 2026-11-20T09:30:01.000Z
             */
            last_attempt_at: string | null;
            /**
             * @description The status of your last answer; null without one
             * @example 503
             */
            last_status: number | null;
            /**
             * @description Why there was no answer; null when there was one
             * @example null
             */
            last_error: string | null;
            /**
             * Format: date-time
             * @description The next attempt comes then, or later when it has to wait; null when none follows. ISO 8601, UTC
             * @example 2026-11-20T09:30:06.000Z
             */
            next_attempt_at: string | null;
        };
        WebhookDetail: {
            /**
             * Format: uuid
             * @description The id of the event, in the header `webhook-id`
             * @example 01a1f87d-8c11-7d0e-9a54-1b2f6e0c7a3d
             */
            id: string;
            /**
             * @description The number of the event, in the header `X-Service-Event-Sequence`
             * @example 42
             */
            sequence: number;
            /**
             * @description How the payment ended
             * @example transaction.completed
             * @enum {string}
             */
            event: "transaction.completed" | "transaction.failed";
            /**
             * @description The kind of the payment
             * @example collection
             * @enum {string}
             */
            type: "collection" | "payout" | "reversal";
            /**
             * Format: uuid
             * @description The id of the payment
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            payment_id: string;
            /**
             * @description Your reference of the payment
             * @example order-1001
             */
            ref_no: string | null;
            /**
             * Format: date-time
             * @description The time of the event. ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: callback-url
             * @description Where it is POSTed
             * @example https://shop.example/webhooks
             */
            callback_url: string;
            /**
             * @description `pending`: attempts follow. `delivered`: you have taken it. `exhausted`: every attempt failed, and none follows by itself. `stopped`: you answered 410
             * @example pending
             * @enum {string}
             */
            status: "exhausted" | "stopped" | "pending" | "delivered";
            /**
             * @description Attempts so far, those before a resend included
             * @example 1
             */
            attempts: number;
            /**
             * Format: date-time
             * @description The first time that you took it; null before. ISO 8601, UTC
             * @example null
             */
            delivered_at: string | null;
            /**
             * Format: date-time
             * @description The last attempt; null before the first, and some months after the last. ISO 8601, UTC
             * @example 2026-11-20T09:30:01.000Z
             */
            last_attempt_at: string | null;
            /**
             * @description The status of your last answer; null without one
             * @example 503
             */
            last_status: number | null;
            /**
             * @description Why there was no answer; null when there was one
             * @example null
             */
            last_error: string | null;
            /**
             * Format: date-time
             * @description The next attempt comes then, or later when it has to wait; null when none follows. ISO 8601, UTC
             * @example 2026-11-20T09:30:06.000Z
             */
            next_attempt_at: string | null;
            /**
             * Format: endpoint
             * @description Scheme, host and port of callback URLs; the usual port is left out
             * @example https://shop.example
             */
            endpoint: string;
            /**
             * @description What the next attempt waits for; null when none follows. `retry`: The next attempt comes after a pause, at the time that next_attempt_at says. `place`: It is due, and goes as soon as there is a place for it. `endpoint`: Its endpoint does not work. One webhook at a time is tried there; the others follow when one is taken. `secret`: Its app has no valid secret to sign it with. It goes when there is one. `under_way`: An attempt is being made now. `support`: Something went wrong with it here, and our support looks at it. You can resend it.
             * @example retry
             * @enum {string|null}
             */
            waits_for: "retry" | "place" | "endpoint" | "secret" | "under_way" | "support" | null;
            /**
             * @description The same in words
             * @example The next attempt comes after a pause, at the time that next_attempt_at says
             */
            waits_for_description: string | null;
            /**
             * @description The body of the webhook, as JSON. To verify a signature you need the bytes received
             * @example {
             *       "notification": {
             *         "type": "collection",
             *         "event": "transaction.completed"
             *       },
             *       "data": {
             *         "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
             *         "result_code": 0,
             *         "result_description": "The service request is processed successfully.",
             *         "amount": "250.00",
             *         "ref_no": "order-1001",
             *         "beneficiary": {
             *           "account": "+254712345678",
             *           "kyc": null
             *         },
             *         "transaction_date": "2026-11-20T09:30:00.000Z",
             *         "external_ref": "ws_CO_20112026093000",
             *         "trans_id": "TKJ7A1B2C3"
             *       }
             *     }
             */
            payload: Record<string, never>;
            /** @description Each attempt, oldest first: the newest 100 of the last months */
            attempts_made: {
                /**
                 * @description The number of the attempt
                 * @example 1
                 */
                attempt: number;
                /**
                 * Format: date-time
                 * @description The end of the attempt. ISO 8601, UTC
                 * @example 2026-11-20T09:30:00.000Z
                 */
                attempted_at: string;
                /**
                 * @description How long it took, in milliseconds
                 * @example 143
                 */
                duration_ms: number;
                /**
                 * @description The status of your answer; null without one
                 * @example 503
                 */
                status: number | null;
                /**
                 * @description Why there was no answer; null when there was one
                 * @example null
                 */
                error: string | null;
                /**
                 * @description The first 1,024 bytes of your answer’s body; null without an answer
                 * @example upstream is down
                 */
                answer: string | null;
            }[];
        };
        ResentWebhook: {
            /**
             * @description False when it was under way or due already: then nothing was changed
             * @example true
             */
            resent: boolean;
            /**
             * Format: uuid
             * @description The id of the event, in the header `webhook-id`
             * @example 01a1f87d-8c11-7d0e-9a54-1b2f6e0c7a3d
             */
            id: string;
            /**
             * @description The number of the event, in the header `X-Service-Event-Sequence`
             * @example 42
             */
            sequence: number;
            /**
             * @description How the payment ended
             * @example transaction.completed
             * @enum {string}
             */
            event: "transaction.completed" | "transaction.failed";
            /**
             * @description The kind of the payment
             * @example collection
             * @enum {string}
             */
            type: "collection" | "payout" | "reversal";
            /**
             * Format: uuid
             * @description The id of the payment
             * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
             */
            payment_id: string;
            /**
             * @description Your reference of the payment
             * @example order-1001
             */
            ref_no: string | null;
            /**
             * Format: date-time
             * @description The time of the event. ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: callback-url
             * @description Where it is POSTed
             * @example https://shop.example/webhooks
             */
            callback_url: string;
            /**
             * @description `pending`: attempts follow. `delivered`: you have taken it. `exhausted`: every attempt failed, and none follows by itself. `stopped`: you answered 410
             * @example pending
             * @enum {string}
             */
            status: "exhausted" | "stopped" | "pending" | "delivered";
            /**
             * @description Attempts so far, those before a resend included
             * @example 1
             */
            attempts: number;
            /**
             * Format: date-time
             * @description The first time that you took it; null before. ISO 8601, UTC
             * @example null
             */
            delivered_at: string | null;
            /**
             * Format: date-time
             * @description The last attempt; null before the first, and some months after the last. ISO 8601, UTC
             * @example 2026-11-20T09:30:01.000Z
             */
            last_attempt_at: string | null;
            /**
             * @description The status of your last answer; null without one
             * @example 503
             */
            last_status: number | null;
            /**
             * @description Why there was no answer; null when there was one
             * @example null
             */
            last_error: string | null;
            /**
             * Format: date-time
             * @description The next attempt comes then, or later when it has to wait; null when none follows. ISO 8601, UTC
             * @example 2026-11-20T09:30:06.000Z
             */
            next_attempt_at: string | null;
            /**
             * Format: endpoint
             * @description Scheme, host and port of callback URLs; the usual port is left out
             * @example https://shop.example
             */
            endpoint: string;
            /**
             * @description What the next attempt waits for; null when none follows. `retry`: The next attempt comes after a pause, at the time that next_attempt_at says. `place`: It is due, and goes as soon as there is a place for it. `endpoint`: Its endpoint does not work. One webhook at a time is tried there; the others follow when one is taken. `secret`: Its app has no valid secret to sign it with. It goes when there is one. `under_way`: An attempt is being made now. `support`: Something went wrong with it here, and our support looks at it. You can resend it.
             * @example retry
             * @enum {string|null}
             */
            waits_for: "retry" | "place" | "endpoint" | "secret" | "under_way" | "support" | null;
            /**
             * @description The same in words
             * @example The next attempt comes after a pause, at the time that next_attempt_at says
             */
            waits_for_description: string | null;
            /**
             * @description The body of the webhook, as JSON. To verify a signature you need the bytes received
             * @example {
             *       "notification": {
             *         "type": "collection",
             *         "event": "transaction.completed"
             *       },
             *       "data": {
             *         "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
             *         "result_code": 0,
             *         "result_description": "The service request is processed successfully.",
             *         "amount": "250.00",
             *         "ref_no": "order-1001",
             *         "beneficiary": {
             *           "account": "+254712345678",
             *           "kyc": null
             *         },
             *         "transaction_date": "2026-11-20T09:30:00.000Z",
             *         "external_ref": "ws_CO_20112026093000",
             *         "trans_id": "TKJ7A1B2C3"
             *       }
             *     }
             */
            payload: Record<string, never>;
            /** @description Each attempt, oldest first: the newest 100 of the last months */
            attempts_made: {
                /**
                 * @description The number of the attempt
                 * @example 1
                 */
                attempt: number;
                /**
                 * Format: date-time
                 * @description The end of the attempt. ISO 8601, UTC
                 * @example 2026-11-20T09:30:00.000Z
                 */
                attempted_at: string;
                /**
                 * @description How long it took, in milliseconds
                 * @example 143
                 */
                duration_ms: number;
                /**
                 * @description The status of your answer; null without one
                 * @example 503
                 */
                status: number | null;
                /**
                 * @description Why there was no answer; null when there was one
                 * @example null
                 */
                error: string | null;
                /**
                 * @description The first 1,024 bytes of your answer’s body; null without an answer
                 * @example upstream is down
                 */
                answer: string | null;
            }[];
        };
        RecoveredWebhooks: {
            /**
             * @description Webhooks that go out again now
             * @example 12
             */
            resent: number;
            /**
             * @description Webhooks of the same time that do not yet: ask again. Counts up to 10000
             * @example 0
             */
            remaining: number;
        };
        WebhookEndpoint: {
            /**
             * Format: endpoint
             * @description Scheme, host and port of callback URLs; the usual port is left out
             * @example https://shop.example
             */
            endpoint: string;
            /**
             * @description `working`; `failing`: the last attempt failed; `held`: five or more failed in a row, so webhooks wait, and one at a time is tried
             * @example held
             * @enum {string}
             */
            state: "held" | "failing" | "working";
            /**
             * Format: date-time
             * @description The first failure in a row. ISO 8601, UTC
             * @example 2026-11-20T09:30:00.000Z
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description Webhooks wait since then. ISO 8601, UTC
             * @example 2026-11-20T09:31:00.000Z
             */
            held_since: string | null;
            /**
             * @description Attempts that failed in a row
             * @example 5
             */
            failures: number;
            /**
             * @description The status of the last answer that was a failure; null without an answer
             * @example 503
             */
            last_status: number | null;
            /**
             * @description Why there was no answer at the last failure; null when there was one
             * @example null
             */
            last_error: string | null;
            /**
             * Format: date-time
             * @description The last failure. ISO 8601, UTC
             * @example 2026-11-20T09:31:00.000Z
             */
            last_failure_at: string | null;
            /**
             * Format: date-time
             * @description The last success. ISO 8601, UTC
             * @example 2026-11-20T09:29:00.000Z
             */
            last_success_at: string | null;
            /**
             * Format: date-time
             * @description When the next one is tried, while it is held. ISO 8601, UTC
             * @example 2026-11-20T09:31:10.000Z
             */
            next_probe_at: string | null;
            /**
             * @description Webhooks that wait for it. Counted up to 1,000: then there may be more
             * @example 7
             */
            waiting: number;
            /**
             * @description Webhooks that may be under way to it at the same time
             * @example 1
             */
            concurrency: number;
        };
        TestedWebhook: {
            /**
             * @description Your receiver answered 2xx
             * @example true
             */
            delivered: boolean;
            /**
             * @description The status of its answer; null without one
             * @example 200
             */
            status: number | null;
            /**
             * @description Why there was no answer; null when there was one
             * @example null
             */
            error: string | null;
            /**
             * @description How long it took, in milliseconds
             * @example 143
             */
            duration_ms: number;
            /**
             * @description The first 1,024 bytes of the answer’s body; null without an answer
             * @example ok
             */
            answer: string | null;
            /**
             * Format: uuid
             * @description The `webhook-id` of the example. It is found nowhere else
             * @example 01a1f87d-8c11-7d0e-9a54-1b2f6e0c7a3d
             */
            webhook_id: string;
        };
        CollectionEnded: {
            /** @description What has happened */
            notification: {
                /**
                 * @description What kind of payment
                 * @constant
                 */
                type: "collection";
                /**
                 * @description `transaction.completed` when `result_code` is 0, else `transaction.failed`
                 * @enum {string}
                 */
                event: "transaction.completed" | "transaction.failed";
            };
            /** @description The payment */
            data: {
                /**
                 * Format: uuid
                 * @description The id of the payment, as in our answers
                 * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
                 */
                id: string;
                /**
                 * @description 0 on success. Any other number is the gateway’s; a reversal that failed has 1
                 * @example 0
                 */
                result_code: number;
                /**
                 * @description The gateway’s words about the result
                 * @example The service request is processed successfully.
                 */
                result_description: string;
                /**
                 * @description In KES, without commission and fees
                 * @example 250.00
                 */
                amount: string;
                /**
                 * @description Your reference: letters, digits, - and _; unique among your records of this kind
                 * @example order-1001
                 */
                ref_no: string;
                /** @description The other side of the payment */
                beneficiary: {
                    /**
                     * Format: kenyan-mobile
                     * @description The customer’s phone, in E.164 form
                     * @example +254712345678
                     */
                    account: string;
                    /** @description Always null */
                    kyc: string | null;
                };
                /**
                 * Format: date-time
                 * @description When the gateway completed it; when it was created, if the gateway gave no time. ISO 8601, UTC
                 * @example 2026-11-20T09:30:00.000Z
                 */
                transaction_date: string;
                /**
                 * @description The gateway’s reference; may be empty
                 * @example ws_CO_20112026093000
                 */
                external_ref: string;
                /**
                 * @description The network’s receipt; empty when no money has moved, or when there is none
                 * @example TKJ7A1B2C3
                 */
                trans_id: string;
            };
        };
        PayoutEnded: {
            /** @description What has happened */
            notification: {
                /**
                 * @description What kind of payment
                 * @constant
                 */
                type: "payout";
                /**
                 * @description `transaction.completed` when `result_code` is 0, else `transaction.failed`
                 * @enum {string}
                 */
                event: "transaction.completed" | "transaction.failed";
            };
            /** @description The payment */
            data: {
                /**
                 * Format: uuid
                 * @description The id of the payment, as in our answers
                 * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
                 */
                id: string;
                /**
                 * @description 0 on success. Any other number is the gateway’s; a reversal that failed has 1
                 * @example 0
                 */
                result_code: number;
                /**
                 * @description The gateway’s words about the result
                 * @example The service request is processed successfully.
                 */
                result_description: string;
                /**
                 * @description In KES, without commission and fees
                 * @example 250.00
                 */
                amount: string;
                /**
                 * @description Your reference: letters, digits, - and _; unique among your records of this kind
                 * @example order-1001
                 */
                ref_no: string;
                /** @description The other side of the payment */
                beneficiary: {
                    /**
                     * @description The recipient’s phone or bank account
                     * @example +254712345678
                     */
                    account: string;
                    /** @description Always null */
                    kyc: string | null;
                };
                /**
                 * Format: date-time
                 * @description When the gateway completed it; when it was created, if the gateway gave no time. ISO 8601, UTC
                 * @example 2026-11-20T09:30:00.000Z
                 */
                transaction_date: string;
                /**
                 * @description The gateway’s reference; may be empty
                 * @example ws_CO_20112026093000
                 */
                external_ref: string;
                /**
                 * @description The network’s receipt; empty when no money has moved, or when there is none
                 * @example TKJ7A1B2C3
                 */
                trans_id: string;
            };
        };
        ReversalEnded: {
            /** @description What has happened */
            notification: {
                /**
                 * @description What kind of payment
                 * @constant
                 */
                type: "reversal";
                /**
                 * @description `transaction.completed` when `result_code` is 0, else `transaction.failed`
                 * @enum {string}
                 */
                event: "transaction.completed" | "transaction.failed";
            };
            /** @description The payment */
            data: {
                /**
                 * Format: uuid
                 * @description The id of the payment, as in our answers
                 * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
                 */
                id: string;
                /**
                 * @description 0 on success. Any other number is the gateway’s; a reversal that failed has 1
                 * @example 0
                 */
                result_code: number;
                /**
                 * @description The gateway’s words about the result
                 * @example The service request is processed successfully.
                 */
                result_description: string;
                /**
                 * @description In KES, without commission and fees
                 * @example 250.00
                 */
                amount: string;
                /**
                 * @description Your reference: letters, digits, - and _; unique among your records of this kind
                 * @example refund-1001
                 */
                ref_no: string;
                /**
                 * @description Your reference of the collection
                 * @example order-1001
                 */
                checkout_ref_no: string;
                /** @description The other side of the payment */
                beneficiary: {
                    /**
                     * Format: kenyan-mobile
                     * @description The customer’s phone, in E.164 form
                     * @example +254712345678
                     */
                    account: string;
                    /** @description Always null */
                    kyc: string | null;
                };
                /**
                 * Format: date-time
                 * @description When the gateway completed it; when it was created, if the gateway gave no time. ISO 8601, UTC
                 * @example 2026-11-20T09:30:00.000Z
                 */
                transaction_date: string;
                /**
                 * @description The gateway’s reference; may be empty
                 * @example ws_CO_20112026093000
                 */
                external_ref: string;
                /**
                 * @description The network’s receipt; empty when no money has moved, or when there is none
                 * @example TKJ7A1B2C3
                 */
                trans_id: string;
                /**
                 * @description Always 0.00
                 * @example 0.00
                 */
                transaction_fee: string;
            };
        };
        WebhookTested: {
            /** @description What has happened */
            notification: {
                /**
                 * @description Always `test`
                 * @constant
                 */
                type: "test";
                /**
                 * @description Always `webhook.test`
                 * @constant
                 */
                event: "webhook.test";
            };
            /** @description The payment */
            data: {
                /**
                 * Format: uuid
                 * @description The id of the payment, as in our answers
                 * @example 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f
                 */
                id: string;
                /**
                 * @description 0 on success. Any other number is the gateway’s; a reversal that failed has 1
                 * @example 0
                 */
                result_code: number;
                /**
                 * @description The gateway’s words about the result
                 * @example The service request is processed successfully.
                 */
                result_description: string;
                /**
                 * @description In KES, without commission and fees
                 * @example 250.00
                 */
                amount: string;
                /**
                 * @description Your reference: letters, digits, - and _; unique among your records of this kind
                 * @example order-1001
                 */
                ref_no: string;
                /** @description The other side of the payment */
                beneficiary: {
                    /**
                     * Format: kenyan-mobile
                     * @description Kenyan mobile number in E.164 form
                     * @example +254712345678
                     */
                    account: string;
                    /** @description Always null */
                    kyc: string | null;
                };
                /**
                 * Format: date-time
                 * @description When the gateway completed it; when it was created, if the gateway gave no time. ISO 8601, UTC
                 * @example 2026-11-20T09:30:00.000Z
                 */
                transaction_date: string;
                /**
                 * @description The gateway’s reference; may be empty
                 * @example ws_CO_20112026093000
                 */
                external_ref: string;
                /**
                 * @description The network’s receipt; empty when no money has moved, or when there is none
                 * @example TKJ7A1B2C3
                 */
                trans_id: string;
            };
        };
        IssueAppTokens: {
            /**
             * Format: plain-text
             * @description The key of your app
             * @example ak_3f0c…
             */
            app_key: string;
            /**
             * Format: plain-text
             * @description The secret of your app
             * @example as_9Kx…
             */
            app_secret: string;
        };
        RefreshTokens: {
            /**
             * @description The refresh token of the last answer
             * @example eyJhbGciOiJIUzI1NiIs…
             */
            refresh: string;
        };
        LogIn: {
            /**
             * Format: plain-text
             * @description Your e-mail address
             * @example owner@duka.example
             */
            email: string;
            /**
             * Format: plain-text
             * @description Your password
             * @example correct horse battery staple
             */
            password: string;
            /**
             * Format: plain-text
             * @description The one-time password, six digits, or a recovery code in its place. Only of people who use them
             * @example 492039
             */
            otp?: string;
        };
        SetUpPassword: {
            /**
             * Format: plain-text
             * @description What is behind the # in the link of the e-mail
             * @example Yb0Hn3J0sLk2mVtWq8cTzKx4fRaQe7uPd1gSi5oNv9wA2bD4fG6hJ8kL0mN2pQ4r
             */
            code: string;
            /**
             * Format: plain-text
             * @description 12 to 128 characters; not the old one, and not easy to guess: several words, no repeats, no row of keys, not your own name
             * @example staple battery horse correct
             */
            new_password: string;
        };
        ReadSecret: {
            /**
             * Format: plain-text
             * @description What is behind the # in the link of the e-mail
             * @example Yb0Hn3J0sLk2mVtWq8cTzKx4fRaQe7uPd1gSi5oNv9wA2bD4fG6hJ8kL0mN2pQ4r
             */
            code: string;
        };
        ListSessions: {
            /** @description Records that match, on all pages; along `next`, as many as did at its start */
            count: number;
            /** @description Follow it as it is; null at the end */
            next: string | null;
            /** @description Follow it as it is; null at the end */
            previous: string | null;
            /** @description The records of this page */
            results: components["schemas"]["Session"][];
        };
        ChangePassword: {
            /**
             * Format: plain-text
             * @description The password that you have now
             * @example correct horse battery staple
             */
            old_password: string;
            /**
             * Format: plain-text
             * @description 12 to 128 characters; not the old one, and not easy to guess: several words, no repeats, no row of keys, not your own name
             * @example staple battery horse correct
             */
            new_password: string;
        };
        BeginTotp: {
            /**
             * Format: plain-text
             * @description Your password
             * @example correct horse battery staple
             */
            password: string;
        };
        ConfirmTotp: {
            /**
             * Format: plain-text
             * @description The one-time password that the authenticator app shows
             * @example 492039
             */
            otp: string;
        };
        ReplaceRecoveryCodes: {
            /**
             * Format: plain-text
             * @description Your password
             * @example correct horse battery staple
             */
            password: string;
            /**
             * Format: plain-text
             * @description The one-time password, six digits, or a recovery code in its place
             * @example 492039
             */
            otp: string;
        };
        ReleaseAccess: {
            /**
             * Format: plain-text
             * @description Your password
             * @example correct horse battery staple
             */
            password: string;
            /**
             * @description The app whose new secret is released
             * @example 5001
             */
            app_code?: number;
            /**
             * Format: plain-text
             * @description The person whose new access is released, instead of an app
             * @example finance@duka.example
             */
            email?: string;
        };
        InitiateCollection: {
            /**
             * Format: kenyan-mobile
             * @description The customer’s phone; it gets the prompt
             * @example +254712345678
             */
            payfrom: string;
            /**
             * @description KES, 1.00 to 999999.99, with exactly two decimals
             * @example 250.00
             */
            amount: string;
            /**
             * @description Your reference: letters, digits, - and _; unique among your records of this kind
             * @example order-1001
             */
            ref_no: string;
            /**
             * Format: plain-text
             * @description What the customer pays for, as shown in the prompt
             * @example INV-7
             */
            account_number: string;
            /**
             * Format: callback-url
             * @description Where the outcome is POSTed: absolute http(s) without user information; https in production, there on port 443 or 8443 unless the operator allows others
             * @example https://shop.example/webhooks
             */
            callback_url: string;
            /**
             * @description Which app to book on: people who logged in and have several must say it. With an app’s token it may only be that app
             * @example 5001
             */
            app_code?: number;
            /**
             * @description All money is in Kenyan shillings
             * @enum {unknown}
             */
            currency?: "KES";
        };
        ListCollections: {
            /** @description Records that match, on all pages; along `next`, as many as did at its start */
            count: number;
            /** @description Follow it as it is; null at the end */
            next: string | null;
            /** @description Follow it as it is; null at the end */
            previous: string | null;
            /** @description The records of this page */
            results: components["schemas"]["Collection"][];
        };
        ListCollectionsDeprecated: {
            /** @description Records that match, on all pages; along `next`, as many as did at its start */
            count: number;
            /** @description Follow it as it is; null at the end */
            next: string | null;
            /** @description Follow it as it is; null at the end */
            previous: string | null;
            /** @description The records of this page */
            results: components["schemas"]["DeprecatedCollection"][];
        };
        InitiatePayout: {
            /**
             * @description The recipient: a Kenyan mobile number in E.164 form, or a bank account number of 5 to 34 letters and digits
             * @example +254712345678
             */
            payto: string;
            /**
             * @description KES, 1.00 to 999999.99, with exactly two decimals
             * @example 250.00
             */
            amount: string;
            /**
             * @description Your reference: letters, digits, - and _; unique among your records of this kind
             * @example order-1001
             */
            ref_no: string;
            /**
             * Format: callback-url
             * @description Where the outcome is POSTed: absolute http(s) without user information; https in production, there on port 443 or 8443 unless the operator allows others
             * @example https://shop.example/webhooks
             */
            callback_url: string;
            /**
             * @description What you pay for
             * @default other
             * @example other
             * @enum {unknown}
             */
            category?: "ecommerce" | "gaming" | "adult_content" | "forex" | "other";
            /**
             * Format: plain-text
             * @description Sent to the gateway
             * @default Disbursement
             * @example Salary November
             */
            narration?: string;
            /**
             * @description Code of the payment channel. Required for bank accounts; a phone’s is that of its carrier unless given
             * @example 63902
             */
            channel?: number;
            /**
             * @description Which app of yours to book on; its secret signs the webhook
             * @example 5001
             */
            app_code: number;
            /**
             * @description All money is in Kenyan shillings
             * @enum {unknown}
             */
            currency?: "KES";
        };
        ListPayouts: {
            /** @description Records that match, on all pages; along `next`, as many as did at its start */
            count: number;
            /** @description Follow it as it is; null at the end */
            next: string | null;
            /** @description Follow it as it is; null at the end */
            previous: string | null;
            /** @description The records of this page */
            results: components["schemas"]["Payout"][];
        };
        ListPayoutsDeprecated: {
            /** @description Records that match, on all pages; along `next`, as many as did at its start */
            count: number;
            /** @description Follow it as it is; null at the end */
            next: string | null;
            /** @description Follow it as it is; null at the end */
            previous: string | null;
            /** @description The records of this page */
            results: components["schemas"]["DeprecatedPayout"][];
        };
        InitiateReversal: {
            /**
             * @description Your reference of the collection to give back
             * @example order-1001
             */
            checkout_ref_no: string;
            /**
             * @description Your reference: letters, digits, - and _; unique among your records of this kind
             * @example refund-1001
             */
            ref_no: string;
            /**
             * Format: callback-url
             * @description Where the outcome is POSTed: absolute http(s) without user information; https in production, there on port 443 or 8443 unless the operator allows others
             * @example https://shop.example/webhooks
             */
            callback_url: string;
            /**
             * Format: plain-text
             * @description Recorded, and sent to the network as remarks
             * @example Out of stock
             */
            reason?: string;
            /**
             * @description Not needed: a reversal gives the whole collection back. Another amount is refused
             * @example 250.00
             */
            amount?: string;
            /**
             * @description Not needed. With an app’s token it may only be that app, for people only the app of the collection
             * @example 5001
             */
            app_code?: number;
            /**
             * @description All money is in Kenyan shillings
             * @enum {unknown}
             */
            currency?: "KES";
        };
        ListReversals: {
            /** @description Records that match, on all pages; along `next`, as many as did at its start */
            count: number;
            /** @description Follow it as it is; null at the end */
            next: string | null;
            /** @description Follow it as it is; null at the end */
            previous: string | null;
            /** @description The records of this page */
            results: components["schemas"]["Reversal"][];
        };
        ListTransactions: {
            /** @description Records that match, on all pages; along `next`, as many as did at its start */
            count: number;
            /** @description Follow it as it is; null at the end */
            next: string | null;
            /** @description Follow it as it is; null at the end */
            previous: string | null;
            /** @description The records of this page */
            results: components["schemas"]["WalletTransaction"][];
        };
        CreateTransfer: {
            /**
             * @description KES, 1.00 to 999999.99, with exactly two decimals
             * @example 250.00
             */
            amount: string;
            /**
             * @description Your reference: letters, digits, - and _; unique among your records of this kind
             * @example order-1001
             */
            ref_no: string;
            /**
             * @description All money is in Kenyan shillings
             * @enum {unknown}
             */
            currency?: "KES";
        };
        ListChannels: {
            /** @description Records that match, on all pages; along `next`, as many as did at its start */
            count: number;
            /** @description Follow it as it is; null at the end */
            next: string | null;
            /** @description Follow it as it is; null at the end */
            previous: string | null;
            /** @description The records of this page */
            results: components["schemas"]["Channel"][];
        };
        ListEvents: {
            /** @description Events after `after`. Counted up to 10,000: then there may be more */
            count: number;
            /** @description Follow it as it is; null at the end */
            next: string | null;
            /** @description Follow it as it is; null at the end */
            previous: string | null;
            /** @description The records of this page */
            results: components["schemas"]["Event"][];
        };
        ListWebhooks: {
            /** @description Records that match, on all pages; along `next`, as many as did at its start. Counted up to 10,000: then there may be more */
            count: number;
            /** @description Follow it as it is; null at the end */
            next: string | null;
            /** @description Follow it as it is; null at the end */
            previous: string | null;
            /** @description The records of this page */
            results: components["schemas"]["Webhook"][];
        };
        RecoverWebhooks: {
            /**
             * Format: date-time
             * @description Webhooks of events from this time on. ISO 8601
             * @example 2026-11-20T09:30:00.000Z
             */
            since: string;
            /**
             * Format: date-time
             * @description Webhooks of events before this time. ISO 8601. Left out: up to now
             * @example 2026-11-20T12:00:00Z
             */
            until?: string;
            /**
             * Format: endpoint
             * @description Only those to this scheme, host and port
             * @example https://shop.example
             */
            endpoint?: string;
        };
        ListWebhookEndpoints: {
            /** @description Records that match, on all pages; along `next`, as many as did at its start */
            count: number;
            /** @description Follow it as it is; null at the end */
            next: string | null;
            /** @description Follow it as it is; null at the end */
            previous: string | null;
            /** @description The records of this page */
            results: components["schemas"]["WebhookEndpoint"][];
        };
        TestWebhook: {
            /**
             * Format: callback-url
             * @description Where the example is POSTed, by the same rules as webhooks. Where the outcome is POSTed: absolute http(s) without user information; https in production, there on port 443 or 8443 unless the operator allows others
             * @example https://shop.example/webhooks
             */
            callback_url: string;
            /**
             * @description Which app of yours signs it: people who logged in and have several must say it. With an app’s token it may only be that app
             * @example 5001
             */
            app_code?: number;
        };
        /**
         * @description Every error has this form. Unless an error says otherwise, nothing was changed.
         *
         *     - `invalid_request` (400): The body is missing, broke off, or is no JSON object; there are more than 1,000 query parameters; or it is no HTTP
         *     - `body_not_json` (400): The body is no valid JSON, or an object in it has a name twice
         *     - `field_required` (400): A required field is missing, null or empty
         *     - `invalid_field` (400): The value of a field or header has the wrong type or form
         *     - `invalid_query` (400): The operation has no such query parameter, or its value is wrong, or it is sent twice
         *     - `invalid_phone_number` (400): Not a Kenyan mobile number in E.164 form, or of a carrier without a channel
         *     - `invalid_amount` (400): Not a string that holds a decimal with exactly two places
         *     - `amount_too_small` (400): Less than 1.00
         *     - `amount_too_large` (400): More than 999999.99
         *     - `amount_not_whole` (400): The channel takes whole shillings only (`whole_shillings` of `GET /channels`)
         *     - `amount_below_channel` (400): Less than the channel carries (`min_amount` and `payouts` of `GET /channels`)
         *     - `amount_above_channel` (400): More than the channel carries (`max_amount` and `payouts` of `GET /channels`)
         *     - `amount_not_of_collection` (400): A reversal gives the whole collection back, and this is not its amount
         *     - `invalid_channel` (400): There is no such channel, or it cannot pay this kind of recipient
         *     - `channel_required` (400): A payout to a bank account must name the channel of its bank
         *     - `channel_not_available` (400): The channel exists, but takes no payments here (`active` of `GET /channels`)
         *     - `insufficient_balance` (400): The wallet does not hold the amount and the fee
         *     - `collection_not_completed` (400): The collection is still open, or has failed
         *     - `credentials_missing` (401): The request has no token
         *     - `invalid_token_format` (401): The header is not `Bearer`, a space and a token
         *     - `invalid_token` (401): The token is not ours, is of the other kind, or has expired: get a new one
         *     - `token_revoked` (401): The log-in of this token was ended: log in again
         *     - `refresh_expired` (401): The refresh token is older than 7 days, or the log-in is older than 30
         *     - `invalid_app_credentials` (401): Key and secret do not belong to an app
         *     - `invalid_set_up_code` (401): The link was used, is older than 24 hours, or a newer one has taken its place
         *     - `invalid_credentials` (401): E-mail address and password do not belong to an active user, or the password of a change is wrong
         *     - `otp_required` (401): The password is right. The person also uses one-time passwords: send `otp` too
         *     - `invalid_otp` (401): Not the one-time password of this half minute or those beside it, used before, or no recovery code that is left
         *     - `https_required` (403): The request came over plain HTTP
         *     - `ip_not_allowed` (403): The caller’s address is not in the allow-list of the app that the token or `app_code` names, of the app of the collection to reverse, or of the merchant for its users
         *     - `merchant_inactive` (403): The operator has suspended the merchant
         *     - `app_inactive` (403): The app of the token, or the one that `app_code` names, is suspended
         *     - `role_insufficient` (403): The user’s role does not allow this, or only people may do it
         *     - `password_change_required` (403): The operator has set the password. Until it is changed with `POST /auth/password`, the person may only log out and list sessions
         *     - `otp_login_required` (403): The merchant or the operator wants a second factor for this. Set it up with `POST /auth/totp`, then log in with it
         *     - `access_too_new` (403): The operator has just given this password, role or secret. Payouts, transfers and reversals wait, so that the merchant can notice
         *     - `merchant_not_approved` (403): The operator has not approved the merchant yet
         *     - `product_missing` (403): The app may not do this: the operator enables its products
         *     - `wallet_missing` (403): The merchant has no wallet for this
         *     - `app_not_found` (404): The merchant has no app with this code
         *     - `transaction_not_found` (404): The merchant has no such record
         *     - `session_not_found` (404): The person has no session with this id, or it has ended
         *     - `webhook_not_found` (404): The merchant has no webhook with this id
         *     - `path_not_found` (404): There is no endpoint at this path
         *     - `method_not_allowed` (405): The path has no such method. The header `Allow` lists those that it has
         *     - `request_timeout` (408): The request did not arrive in time
         *     - `totp_enabled` (409): Switch them off first to set them up anew, such as for another phone
         *     - `totp_not_enabled` (409): There is nothing to confirm or to change: begin with `POST /auth/totp`
         *     - `duplicate_ref_no` (409): The merchant has used this reference for a record of this kind. Nothing was repeated
         *     - `reversal_done` (409): A collection is reversed once
         *     - `reversal_in_progress` (409): Another reversal of the collection has not ended
         *     - `webhook_test_running` (409): A merchant tests one receiver at a time
         *     - `signing_secret_missing` (409): All secrets that sign the webhooks of the app have ended
         *     - `idempotency_key_running` (409): Send it again in a moment to get its answer
         *     - `body_too_large` (413): The body has more than 64 KiB
         *     - `media_type_unsupported` (415): The body is not announced as JSON in UTF-8, or is in an unknown encoding
         *     - `idempotency_key_reused` (422): The key belongs to a request with another body: use a new one
         *     - `rate_limited` (429): Too many requests, or too many failed log-ins: wait for `Retry-After` seconds
         *     - `headers_too_large` (431): Address and headers together have more than 16 KiB
         *     - `internal_error` (500): A fault of ours. A payment may have been recorded: send it again as after `unavailable`
         *     - `gateway_unreachable` (502): The reversal is recorded and goes on; the gateway has not answered yet
         *     - `channel_paused` (503): The channel takes no new payments for now. Nothing was recorded
         *     - `unavailable` (503): Overload or maintenance. A payment may have been recorded: send it again after `Retry-After` seconds with the same `ref_no`, never with a new one. With the same Idempotency-Key its kept answer comes; without a key 409 `duplicate_ref_no` means that it is recorded
         */
        Error: {
            /** @description What is wrong, in words */
            detail: string;
            /** @description What is wrong, for programs. Codes may be added */
            code: string;
            /** @description The field, parameter or header to blame, if any */
            field?: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    issueAppTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "app_key": "ak_3f0c…",
                 *       "app_secret": "as_9Kx…"
                 *     }
                 */
                "application/json": components["schemas"]["IssueAppTokens"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access": "eyJhbGciOiJIUzI1NiIs…",
                     *       "refresh": "eyJhbGciOiJIUzI1NiIs…",
                     *       "merchant_id": 1001,
                     *       "merchant_code": 1001,
                     *       "app_code": 5001,
                     *       "products": [
                     *         "collections",
                     *         "payouts"
                     *       ],
                     *       "name": "Duka la Mfano",
                     *       "email": "owner@duka.example",
                     *       "phone_number": "+254711000001",
                     *       "requires_verification": true,
                     *       "message": "Token issued"
                     *     }
                     */
                    "application/json": components["schemas"]["Tokens"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: a refresh token may be spent. If it is refused from now on, log in again */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: a refresh token may be spent. If it is refused from now on, log in again */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    refreshTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "refresh": "eyJhbGciOiJIUzI1NiIs…"
                 *     }
                 */
                "application/json": components["schemas"]["RefreshTokens"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access": "eyJhbGciOiJIUzI1NiIs…",
                     *       "refresh": "eyJhbGciOiJIUzI1NiIs…",
                     *       "merchant_id": 1001,
                     *       "merchant_code": 1001,
                     *       "app_code": 5001,
                     *       "products": [
                     *         "collections",
                     *         "payouts"
                     *       ],
                     *       "name": "Duka la Mfano",
                     *       "email": "owner@duka.example",
                     *       "phone_number": "+254711000001",
                     *       "requires_verification": true,
                     *       "message": "Token issued"
                     *     }
                     */
                    "application/json": components["schemas"]["Tokens"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: a refresh token may be spent. If it is refused from now on, log in again */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: a refresh token may be spent. If it is refused from now on, log in again */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    logIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "owner@duka.example",
                 *       "password": "correct horse battery staple",
                 *       "otp": "492039"
                 *     }
                 */
                "application/json": components["schemas"]["LogIn"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access": "eyJhbGciOiJIUzI1NiIs…",
                     *       "refresh": "eyJhbGciOiJIUzI1NiIs…",
                     *       "merchant_id": 1001,
                     *       "merchant_code": 1001,
                     *       "app_code": 5001,
                     *       "products": [
                     *         "collections",
                     *         "payouts"
                     *       ],
                     *       "name": "Duka la Mfano",
                     *       "email": "owner@duka.example",
                     *       "phone_number": "+254711000001",
                     *       "requires_verification": true,
                     *       "message": "Token issued"
                     *     }
                     */
                    "application/json": components["schemas"]["Tokens"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: a refresh token may be spent. If it is refused from now on, log in again */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: a refresh token may be spent. If it is refused from now on, log in again */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    setUpPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "Yb0Hn3J0sLk2mVtWq8cTzKx4fRaQe7uPd1gSi5oNv9wA2bD4fG6hJ8kL0mN2pQ4r",
                 *       "new_password": "staple battery horse correct"
                 *     }
                 */
                "application/json": components["schemas"]["SetUpPassword"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Password set"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description What was done
                         * @example Password set
                         */
                        message: string;
                    };
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: a refresh token may be spent. If it is refused from now on, log in again */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: a refresh token may be spent. If it is refused from now on, log in again */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readSecret: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "Yb0Hn3J0sLk2mVtWq8cTzKx4fRaQe7uPd1gSi5oNv9wA2bD4fG6hJ8kL0mN2pQ4r"
                 *     }
                 */
                "application/json": components["schemas"]["ReadSecret"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_code": 5001,
                     *       "app_key": "ak_3f0c…",
                     *       "kind": "app",
                     *       "secret": "as_9Kx…"
                     *     }
                     */
                    "application/json": components["schemas"]["AppSecret"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: a refresh token may be spent. If it is refused from now on, log in again */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: a refresh token may be spent. If it is refused from now on, log in again */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description The number of the page. To walk through a list, follow `next` */
                page?: number;
                /** @description The most records of a page */
                page_size?: number;
                /** @description Part of `next` and `previous`: keeps pages in step while records are added */
                as_of?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count": 1,
                     *       "next": null,
                     *       "previous": null,
                     *       "results": [
                     *         {
                     *           "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *           "created_at": "2026-11-20T09:30:00.000Z",
                     *           "refreshed_at": "2026-11-20T09:30:00.000Z",
                     *           "expires_at": "2026-11-20T09:30:00.000Z",
                     *           "ends_at": "2026-11-20T09:30:00.000Z",
                     *           "address": "203.0.113.7",
                     *           "with_otp": true,
                     *           "current": true
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ListSessions"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record, as the list shows it */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Session ended"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description What was done
                         * @example Session ended
                         */
                        message: string;
                    };
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "old_password": "correct horse battery staple",
                 *       "new_password": "staple battery horse correct"
                 *     }
                 */
                "application/json": components["schemas"]["ChangePassword"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Password changed"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description What was done
                         * @example Password changed
                         */
                        message: string;
                    };
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    beginTotp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "password": "correct horse battery staple"
                 *     }
                 */
                "application/json": components["schemas"]["BeginTotp"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
                     *       "otpauth_uri": "otpauth://totp/Malipo:owner%40duka.example?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Malipo"
                     *     }
                     */
                    "application/json": components["schemas"]["NewTotp"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    confirmTotp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "otp": "492039"
                 *     }
                 */
                "application/json": components["schemas"]["ConfirmTotp"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "recovery_codes": [
                     *         "3f9a1-c04be-7d218-9e6f5"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RecoveryCodes"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    disableTotp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "password": "correct horse battery staple",
                 *       "otp": "492039"
                 *     }
                 */
                "application/json": components["schemas"]["ReplaceRecoveryCodes"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "One-time passwords are off"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description What was done
                         * @example One-time passwords are off
                         */
                        message: string;
                    };
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replaceRecoveryCodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "password": "correct horse battery staple",
                 *       "otp": "492039"
                 *     }
                 */
                "application/json": components["schemas"]["ReplaceRecoveryCodes"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "recovery_codes": [
                     *         "3f9a1-c04be-7d218-9e6f5"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RecoveryCodes"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    releaseAccess: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "password": "correct horse battery staple",
                 *       "app_code": 5001,
                 *       "email": "finance@duka.example"
                 *     }
                 */
                "application/json": components["schemas"]["ReleaseAccess"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "It may send money out"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description What was done
                         * @example It may send money out
                         */
                        message: string;
                    };
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    logOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Logged out"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description What was done
                         * @example Logged out
                         */
                        message: string;
                    };
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    initiateCollection: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes it safe to send this again: the first answer is repeated, with Idempotent-Replayed: true, for 48 hours. Errors are not kept: after one the request runs anew. Three are different: what got 500 or 503 `unavailable` may have been recorded, and the reversal of a 502 is. Then the answer that was kept comes */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "payfrom": "+254712345678",
                 *       "amount": "250.00",
                 *       "ref_no": "order-1001",
                 *       "account_number": "INV-7",
                 *       "callback_url": "https://shop.example/webhooks"
                 *     }
                 */
                "application/json": components["schemas"]["InitiateCollection"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    /** @description True when this is the first answer again */
                    "Idempotent-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *       "payfrom": "+254712345678",
                     *       "amount": "250.00",
                     *       "ref_no": "order-1001",
                     *       "account_number": "INV-7",
                     *       "callback_url": "https://shop.example/webhooks",
                     *       "status": "pending",
                     *       "category": "other",
                     *       "created_at": "20/11/2026 09:30:00",
                     *       "created_at_iso": "2026-11-20T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["InitiatedCollection"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: it may have been recorded. Send it again with the same `ref_no`, never with a new one. With the same Idempotency-Key the answer that was kept comes; without a key 409 `duplicate_ref_no` means that it is recorded */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `channel_paused`: nothing was recorded. `unavailable`: it may have been recorded. Send it again with the same `ref_no`, never with a new one. With the same Idempotency-Key the answer that was kept comes; without a key 409 `duplicate_ref_no` means that it is recorded */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listCollections: {
        parameters: {
            query?: {
                /** @description The number of the page. To walk through a list, follow `next` */
                page?: number;
                /** @description The most records of a page */
                page_size?: number;
                /** @description Part of `next` and `previous`: keeps pages in step while records are added */
                as_of?: string;
                /** @description Only of this status: 0 pending, 1 processing, 2 failed, 3 completed. The number or the word */
                status?: 0 | 1 | 2 | 3 | "pending" | "processing" | "failed" | "completed";
                /** @description Created from here on: a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included */
                date_from?: string | unknown | unknown;
                /** @description Created up to here: a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included */
                date_to?: string | unknown | unknown;
                /** @description Only the one with this reference of yours */
                ref_no?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count": 1,
                     *       "next": null,
                     *       "previous": null,
                     *       "results": [
                     *         {
                     *           "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *           "payfrom": "+254712345678",
                     *           "amount": "250.00",
                     *           "ref_no": "order-1001",
                     *           "account_number": "INV-7",
                     *           "callback_url": "https://shop.example/webhooks",
                     *           "status": "pending",
                     *           "category": "other",
                     *           "created_at": "20/11/2026 09:30:00",
                     *           "created_at_iso": "2026-11-20T09:30:00.000Z",
                     *           "result_code": null,
                     *           "result_description": null,
                     *           "trans_id": null,
                     *           "external_ref": null,
                     *           "payment_completed_at": null,
                     *           "commission": "3.75",
                     *           "net_amount": "246.25"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ListCollections"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCollection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the collection */
                checkout_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *       "payfrom": "+254712345678",
                     *       "amount": "250.00",
                     *       "ref_no": "order-1001",
                     *       "account_number": "INV-7",
                     *       "callback_url": "https://shop.example/webhooks",
                     *       "status": "pending",
                     *       "category": "other",
                     *       "created_at": "20/11/2026 09:30:00",
                     *       "created_at_iso": "2026-11-20T09:30:00.000Z",
                     *       "result_code": null,
                     *       "result_description": null,
                     *       "trans_id": null,
                     *       "external_ref": null,
                     *       "payment_completed_at": null,
                     *       "commission": "3.75",
                     *       "net_amount": "246.25",
                     *       "created_by": "owner@duka.example"
                     *     }
                     */
                    "application/json": components["schemas"]["CollectionDetail"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listCollectionsDeprecated: {
        parameters: {
            query?: {
                /** @description The number of the page. To walk through a list, follow `next` */
                page?: number;
                /** @description The most records of a page */
                page_size?: number;
                /** @description Part of `next` and `previous`: keeps pages in step while records are added */
                as_of?: string;
                /** @description Only of this status */
                status?: "pending" | "completed" | "failed";
                /** @description Created from here on: a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included */
                date_from?: string | unknown | unknown;
                /** @description Created up to here: a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included */
                date_to?: string | unknown | unknown;
                /** @description Only of this phone, in E.164 form. In an address the plus is written %2B */
                phone?: string;
                /** @description Only the one with this reference of yours */
                ref_no?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    /** @description Always true */
                    Deprecation?: string;
                    /** @description What replaces this */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count": 1,
                     *       "next": null,
                     *       "previous": null,
                     *       "results": [
                     *         {
                     *           "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *           "payfrom": "+254712345678",
                     *           "amount": "250.00",
                     *           "ref_no": "order-1001",
                     *           "account_number": "INV-7",
                     *           "callback_url": "https://shop.example/webhooks",
                     *           "status": "pending",
                     *           "category": "other",
                     *           "created_at": "20/11/2026 09:30:00"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ListCollectionsDeprecated"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    initiatePayout: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes it safe to send this again: the first answer is repeated, with Idempotent-Replayed: true, for 48 hours. Errors are not kept: after one the request runs anew. Three are different: what got 500 or 503 `unavailable` may have been recorded, and the reversal of a 502 is. Then the answer that was kept comes */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "payto": "+254712345678",
                 *       "amount": "250.00",
                 *       "ref_no": "order-1001",
                 *       "callback_url": "https://shop.example/webhooks",
                 *       "category": "other",
                 *       "narration": "Salary November",
                 *       "channel": 63902,
                 *       "app_code": 5001
                 *     }
                 */
                "application/json": components["schemas"]["InitiatePayout"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    /** @description True when this is the first answer again */
                    "Idempotent-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *       "payto": "+254712345678",
                     *       "amount": "250.00",
                     *       "ref_no": "order-1001",
                     *       "status": "pending",
                     *       "category": "other",
                     *       "channel": 63902,
                     *       "channel_name": "M-PESA",
                     *       "channel_type": "Mobile Money",
                     *       "created_at": "20/11/2026 09:30:00",
                     *       "created_at_iso": "2026-11-20T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["InitiatedPayout"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: it may have been recorded. Send it again with the same `ref_no`, never with a new one. With the same Idempotency-Key the answer that was kept comes; without a key 409 `duplicate_ref_no` means that it is recorded */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `channel_paused`: nothing was recorded. `unavailable`: it may have been recorded. Send it again with the same `ref_no`, never with a new one. With the same Idempotency-Key the answer that was kept comes; without a key 409 `duplicate_ref_no` means that it is recorded */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listPayouts: {
        parameters: {
            query?: {
                /** @description The number of the page. To walk through a list, follow `next` */
                page?: number;
                /** @description The most records of a page */
                page_size?: number;
                /** @description Part of `next` and `previous`: keeps pages in step while records are added */
                as_of?: string;
                /** @description Only of this status: 0 pending, 1 processing, 2 failed, 3 completed. The number or the word */
                status?: 0 | 1 | 2 | 3 | "pending" | "processing" | "failed" | "completed";
                /** @description Created from here on: a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included */
                date_from?: string | unknown | unknown;
                /** @description Created up to here: a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included */
                date_to?: string | unknown | unknown;
                /** @description Only the one with this reference of yours */
                ref_no?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count": 1,
                     *       "next": null,
                     *       "previous": null,
                     *       "results": [
                     *         {
                     *           "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *           "payto": "+254712345678",
                     *           "amount": "250.00",
                     *           "ref_no": "order-1001",
                     *           "status": "pending",
                     *           "category": "other",
                     *           "created_at": "20/11/2026 09:30:00",
                     *           "created_at_iso": "2026-11-20T09:30:00.000Z",
                     *           "result_code": null,
                     *           "result_description": null,
                     *           "trans_id": null,
                     *           "external_ref": null,
                     *           "payment_completed_at": null,
                     *           "channel": 63902,
                     *           "channel_name": "M-PESA",
                     *           "channel_type": "Mobile Money",
                     *           "narration": "Salary November",
                     *           "fee": "0.00"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ListPayouts"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listPayoutsDeprecated: {
        parameters: {
            query?: {
                /** @description The number of the page. To walk through a list, follow `next` */
                page?: number;
                /** @description The most records of a page */
                page_size?: number;
                /** @description Part of `next` and `previous`: keeps pages in step while records are added */
                as_of?: string;
                /** @description Only of this status */
                status?: "pending" | "completed" | "failed";
                /** @description Created from here on: a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included */
                date_from?: string | unknown | unknown;
                /** @description Created up to here: a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included */
                date_to?: string | unknown | unknown;
                /** @description Only of this phone, in E.164 form. In an address the plus is written %2B */
                phone?: string;
                /** @description Only the one with this reference of yours */
                ref_no?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    /** @description Always true */
                    Deprecation?: string;
                    /** @description What replaces this */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count": 1,
                     *       "next": null,
                     *       "previous": null,
                     *       "results": [
                     *         {
                     *           "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *           "payto": "+254712345678",
                     *           "amount": "250.00",
                     *           "ref_no": "order-1001",
                     *           "status": "pending",
                     *           "category": "other",
                     *           "created_at": "20/11/2026 09:30:00"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ListPayoutsDeprecated"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getPayout: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the payout */
                payout_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *       "payto": "+254712345678",
                     *       "amount": "250.00",
                     *       "ref_no": "order-1001",
                     *       "status": "pending",
                     *       "category": "other",
                     *       "created_at": "20/11/2026 09:30:00",
                     *       "created_at_iso": "2026-11-20T09:30:00.000Z",
                     *       "result_code": null,
                     *       "result_description": null,
                     *       "trans_id": null,
                     *       "external_ref": null,
                     *       "payment_completed_at": null,
                     *       "channel": 63902,
                     *       "channel_name": "M-PESA",
                     *       "channel_type": "Mobile Money",
                     *       "narration": "Salary November",
                     *       "fee": "0.00",
                     *       "created_by": "owner@duka.example"
                     *     }
                     */
                    "application/json": components["schemas"]["PayoutDetail"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    initiateReversal: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes it safe to send this again: the first answer is repeated, with Idempotent-Replayed: true, for 48 hours. Errors are not kept: after one the request runs anew. Three are different: what got 500 or 503 `unavailable` may have been recorded, and the reversal of a 502 is. Then the answer that was kept comes */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "checkout_ref_no": "order-1001",
                 *       "ref_no": "refund-1001",
                 *       "callback_url": "https://shop.example/webhooks",
                 *       "reason": "Out of stock"
                 *     }
                 */
                "application/json": components["schemas"]["InitiateReversal"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    /** @description True when this is the first answer again */
                    "Idempotent-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *       "ref_no": "refund-1001",
                     *       "checkout_ref_no": "order-1001",
                     *       "original_trans_id": "TKJ7A1B2C3",
                     *       "amount": "250.00",
                     *       "reversed_net_amount": "246.25",
                     *       "reversed_commission": "3.75",
                     *       "status": 1,
                     *       "status_label": "processed",
                     *       "result_description": null,
                     *       "trans_id": null,
                     *       "reason": "Out of stock",
                     *       "created_at": "2026-11-20T09:30:00.000Z",
                     *       "payment_completed_at": null
                     *     }
                     */
                    "application/json": components["schemas"]["Reversal"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: it may have been recorded. Send it again with the same `ref_no`, never with a new one. With the same Idempotency-Key the answer that was kept comes; without a key 409 `duplicate_ref_no` means that it is recorded */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Recorded; the outcome is not known yet. The same request with the same Idempotency-Key answers 200 with the reversal as it is then, however often; without a key it answers 409 `duplicate_ref_no` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `channel_paused`: nothing was recorded. `unavailable`: it may have been recorded. Send it again with the same `ref_no`, never with a new one. With the same Idempotency-Key the answer that was kept comes; without a key 409 `duplicate_ref_no` means that it is recorded */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listReversals: {
        parameters: {
            query?: {
                /** @description The number of the page. To walk through a list, follow `next` */
                page?: number;
                /** @description The most records of a page */
                page_size?: number;
                /** @description Part of `next` and `previous`: keeps pages in step while records are added */
                as_of?: string;
                /** @description Only of this status: 0 unprocessed, 1 processed, 2 failed, 3 reversed. The number or the word */
                status?: 0 | 1 | 2 | 3 | "unprocessed" | "processed" | "failed" | "reversed";
                /** @description Created from here on: a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included */
                date_from?: string | unknown | unknown;
                /** @description Created up to here: a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included */
                date_to?: string | unknown | unknown;
                /** @description Only the one with this reference of yours */
                ref_no?: string;
                /** @description Only of the collection with this reference of yours */
                checkout_ref_no?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count": 1,
                     *       "next": null,
                     *       "previous": null,
                     *       "results": [
                     *         {
                     *           "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *           "ref_no": "refund-1001",
                     *           "checkout_ref_no": "order-1001",
                     *           "original_trans_id": "TKJ7A1B2C3",
                     *           "amount": "250.00",
                     *           "reversed_net_amount": "246.25",
                     *           "reversed_commission": "3.75",
                     *           "status": 1,
                     *           "status_label": "processed",
                     *           "result_description": null,
                     *           "trans_id": null,
                     *           "reason": "Out of stock",
                     *           "created_at": "2026-11-20T09:30:00.000Z",
                     *           "payment_completed_at": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ListReversals"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getReversal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Your reference */
                ref_no: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *       "ref_no": "refund-1001",
                     *       "checkout_ref_no": "order-1001",
                     *       "original_trans_id": "TKJ7A1B2C3",
                     *       "amount": "250.00",
                     *       "reversed_net_amount": "246.25",
                     *       "reversed_commission": "3.75",
                     *       "status": 1,
                     *       "status_label": "processed",
                     *       "result_description": null,
                     *       "trans_id": null,
                     *       "reason": "Out of stock",
                     *       "created_at": "2026-11-20T09:30:00.000Z",
                     *       "payment_completed_at": null,
                     *       "created_by": "owner@duka.example"
                     *     }
                     */
                    "application/json": components["schemas"]["ReversalDetail"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getBalance: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "payout_wallet_balance": "250.00",
                     *       "collection_wallet_balance": "250.00",
                     *       "currency": "KES"
                     *     }
                     */
                    "application/json": components["schemas"]["WalletBalance"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listTransactions: {
        parameters: {
            query?: {
                /** @description The number of the page. To walk through a list, follow `next` */
                page?: number;
                /** @description The most records of a page */
                page_size?: number;
                /** @description Part of `next` and `previous`: keeps pages in step while records are added */
                as_of?: string;
                /** @description Only of this wallet */
                wallet?: "collection" | "payout";
                /** @description Only of this type */
                type?: "collection" | "payout" | "fee" | "payout_refund" | "fee_refund" | "reversal" | "topup" | "transfer" | "adjustment";
                /** @description Only those of the payment or transfer with this reference of yours */
                ref_no?: string;
                /** @description Only of this phone, in E.164 form. In an address the plus is written %2B */
                phone?: string;
                /** @description Created from here on: a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included */
                date_from?: string | unknown | unknown;
                /** @description Created up to here: a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included */
                date_to?: string | unknown | unknown;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count": 1,
                     *       "next": null,
                     *       "previous": null,
                     *       "results": [
                     *         {
                     *           "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *           "wallet": "collection",
                     *           "type": "collection",
                     *           "direction": "credit",
                     *           "amount": "250.00",
                     *           "balance_after": "250.00",
                     *           "ref_no": "order-1001",
                     *           "account": null,
                     *           "trans_id": null,
                     *           "description": "Collection, net of commission",
                     *           "created_at": "2026-11-20T09:30:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ListTransactions"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createTransfer: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes it safe to send this again: the first answer is repeated, with Idempotent-Replayed: true, for 48 hours. Errors are not kept: after one the request runs anew. Three are different: what got 500 or 503 `unavailable` may have been recorded, and the reversal of a 502 is. Then the answer that was kept comes */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "amount": "250.00",
                 *       "ref_no": "order-1001"
                 *     }
                 */
                "application/json": components["schemas"]["CreateTransfer"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    /** @description True when this is the first answer again */
                    "Idempotent-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *       "wallet": "collection",
                     *       "type": "collection",
                     *       "direction": "credit",
                     *       "amount": "250.00",
                     *       "balance_after": "250.00",
                     *       "ref_no": "order-1001",
                     *       "account": null,
                     *       "trans_id": null,
                     *       "description": "Collection, net of commission",
                     *       "created_at": "2026-11-20T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["WalletTransaction"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: it may have been recorded. Send it again with the same `ref_no`, never with a new one. With the same Idempotency-Key the answer that was kept comes; without a key 409 `duplicate_ref_no` means that it is recorded */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unavailable`: it may have been recorded. Send it again with the same `ref_no`, never with a new one. With the same Idempotency-Key the answer that was kept comes; without a key 409 `duplicate_ref_no` means that it is recorded */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listChannels: {
        parameters: {
            query?: {
                /** @description The number of the page. To walk through a list, follow `next` */
                page?: number;
                /** @description The most records of a page */
                page_size?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count": 1,
                     *       "next": null,
                     *       "previous": null,
                     *       "results": [
                     *         {
                     *           "code": 63902,
                     *           "name": "M-PESA",
                     *           "type": "Mobile Money",
                     *           "active": true,
                     *           "min_amount": "250.00",
                     *           "max_amount": "250.00",
                     *           "whole_shillings": true,
                     *           "collections": {
                     *             "active": true,
                     *             "min_amount": "250.00",
                     *             "max_amount": "250.00",
                     *             "whole_shillings": true
                     *           },
                     *           "payouts": {
                     *             "active": true,
                     *             "min_amount": "250.00",
                     *             "max_amount": "250.00",
                     *             "whole_shillings": true
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ListChannels"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Only events with a higher `sequence`: the highest that you have processed */
                after?: number;
                /** @description The most records of a page */
                page_size?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count": 1,
                     *       "next": null,
                     *       "previous": null,
                     *       "results": [
                     *         {
                     *           "id": "01a1f87d-8c11-7d0e-9a54-1b2f6e0c7a3d",
                     *           "sequence": 42,
                     *           "event": "transaction.completed",
                     *           "type": "collection",
                     *           "payment_id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *           "ref_no": "order-1001",
                     *           "created_at": "2026-11-20T09:30:00.000Z",
                     *           "payload": {
                     *             "notification": {
                     *               "type": "collection",
                     *               "event": "transaction.completed"
                     *             },
                     *             "data": {
                     *               "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *               "result_code": 0,
                     *               "result_description": "The service request is processed successfully.",
                     *               "amount": "250.00",
                     *               "ref_no": "order-1001",
                     *               "beneficiary": {
                     *                 "account": "+254712345678",
                     *                 "kyc": null
                     *               },
                     *               "transaction_date": "2026-11-20T09:30:00.000Z",
                     *               "external_ref": "ws_CO_20112026093000",
                     *               "trans_id": "TKJ7A1B2C3"
                     *             }
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ListEvents"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description The number of the page. To walk through a list, follow `next` */
                page?: number;
                /** @description The most records of a page */
                page_size?: number;
                /** @description Part of `next` and `previous`: keeps pages in step while records are added */
                as_of?: string;
                /** @description Only those in this state */
                status?: "exhausted" | "stopped" | "pending" | "delivered";
                /** @description Only those that say this */
                event?: "transaction.completed" | "transaction.failed";
                /** @description Only those of this kind of payment */
                type?: "collection" | "payout" | "reversal";
                /** @description Only those of the payments with your reference */
                ref_no?: string;
                /** @description Only those of this payment */
                payment_id?: string;
                /** @description Only those to this scheme, host and port */
                endpoint?: string;
                /** @description Created from here on: a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included */
                date_from?: string | unknown | unknown;
                /** @description Created up to here: a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included */
                date_to?: string | unknown | unknown;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count": 1,
                     *       "next": null,
                     *       "previous": null,
                     *       "results": [
                     *         {
                     *           "id": "01a1f87d-8c11-7d0e-9a54-1b2f6e0c7a3d",
                     *           "sequence": 42,
                     *           "event": "transaction.completed",
                     *           "type": "collection",
                     *           "payment_id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *           "ref_no": "order-1001",
                     *           "created_at": "2026-11-20T09:30:00.000Z",
                     *           "callback_url": "https://shop.example/webhooks",
                     *           "status": "pending",
                     *           "attempts": 1,
                     *           "delivered_at": null,
                     *           "last_attempt_at": "2026-11-20T09:30:01.000Z",
                     *           "last_status": 503,
                     *           "last_error": null,
                     *           "next_attempt_at": "2026-11-20T09:30:06.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ListWebhooks"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record, as the list shows it */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1f87d-8c11-7d0e-9a54-1b2f6e0c7a3d",
                     *       "sequence": 42,
                     *       "event": "transaction.completed",
                     *       "type": "collection",
                     *       "payment_id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *       "ref_no": "order-1001",
                     *       "created_at": "2026-11-20T09:30:00.000Z",
                     *       "callback_url": "https://shop.example/webhooks",
                     *       "status": "pending",
                     *       "attempts": 1,
                     *       "delivered_at": null,
                     *       "last_attempt_at": "2026-11-20T09:30:01.000Z",
                     *       "last_status": 503,
                     *       "last_error": null,
                     *       "next_attempt_at": "2026-11-20T09:30:06.000Z",
                     *       "endpoint": "https://shop.example",
                     *       "waits_for": "retry",
                     *       "waits_for_description": "The next attempt comes after a pause, at the time that next_attempt_at says",
                     *       "payload": {
                     *         "notification": {
                     *           "type": "collection",
                     *           "event": "transaction.completed"
                     *         },
                     *         "data": {
                     *           "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *           "result_code": 0,
                     *           "result_description": "The service request is processed successfully.",
                     *           "amount": "250.00",
                     *           "ref_no": "order-1001",
                     *           "beneficiary": {
                     *             "account": "+254712345678",
                     *             "kyc": null
                     *           },
                     *           "transaction_date": "2026-11-20T09:30:00.000Z",
                     *           "external_ref": "ws_CO_20112026093000",
                     *           "trans_id": "TKJ7A1B2C3"
                     *         }
                     *       },
                     *       "attempts_made": [
                     *         {
                     *           "attempt": 1,
                     *           "attempted_at": "2026-11-20T09:30:00.000Z",
                     *           "duration_ms": 143,
                     *           "status": 503,
                     *           "error": null,
                     *           "answer": "upstream is down"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDetail"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resendWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes it safe to send this again: the first answer is repeated, with Idempotent-Replayed: true, for 48 hours. Errors are not kept: after one the request runs anew. Three are different: what got 500 or 503 `unavailable` may have been recorded, and the reversal of a 502 is. Then the answer that was kept comes */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the record, as the list shows it */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    /** @description True when this is the first answer again */
                    "Idempotent-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "resent": true,
                     *       "id": "01a1f87d-8c11-7d0e-9a54-1b2f6e0c7a3d",
                     *       "sequence": 42,
                     *       "event": "transaction.completed",
                     *       "type": "collection",
                     *       "payment_id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *       "ref_no": "order-1001",
                     *       "created_at": "2026-11-20T09:30:00.000Z",
                     *       "callback_url": "https://shop.example/webhooks",
                     *       "status": "pending",
                     *       "attempts": 1,
                     *       "delivered_at": null,
                     *       "last_attempt_at": "2026-11-20T09:30:01.000Z",
                     *       "last_status": 503,
                     *       "last_error": null,
                     *       "next_attempt_at": "2026-11-20T09:30:06.000Z",
                     *       "endpoint": "https://shop.example",
                     *       "waits_for": "retry",
                     *       "waits_for_description": "The next attempt comes after a pause, at the time that next_attempt_at says",
                     *       "payload": {
                     *         "notification": {
                     *           "type": "collection",
                     *           "event": "transaction.completed"
                     *         },
                     *         "data": {
                     *           "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                     *           "result_code": 0,
                     *           "result_description": "The service request is processed successfully.",
                     *           "amount": "250.00",
                     *           "ref_no": "order-1001",
                     *           "beneficiary": {
                     *             "account": "+254712345678",
                     *             "kyc": null
                     *           },
                     *           "transaction_date": "2026-11-20T09:30:00.000Z",
                     *           "external_ref": "ws_CO_20112026093000",
                     *           "trans_id": "TKJ7A1B2C3"
                     *         }
                     *       },
                     *       "attempts_made": [
                     *         {
                     *           "attempt": 1,
                     *           "attempted_at": "2026-11-20T09:30:00.000Z",
                     *           "duration_ms": 143,
                     *           "status": 503,
                     *           "error": null,
                     *           "answer": "upstream is down"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ResentWebhook"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done. Send it again: what is under way or due stays as it is. With the same Idempotency-Key the answer that was kept comes */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done. Send it again: what is under way or due stays as it is. With the same Idempotency-Key the answer that was kept comes */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    recoverWebhooks: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes it safe to send this again: the first answer is repeated, with Idempotent-Replayed: true, for 48 hours. Errors are not kept: after one the request runs anew. Three are different: what got 500 or 503 `unavailable` may have been recorded, and the reversal of a 502 is. Then the answer that was kept comes */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "since": "2026-11-20T09:30:00.000Z",
                 *       "until": "2026-11-20T12:00:00Z",
                 *       "endpoint": "https://shop.example"
                 *     }
                 */
                "application/json": components["schemas"]["RecoverWebhooks"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    /** @description True when this is the first answer again */
                    "Idempotent-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "resent": 12,
                     *       "remaining": 0
                     *     }
                     */
                    "application/json": components["schemas"]["RecoveredWebhooks"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done. Send it again: what is under way or due stays as it is. With the same Idempotency-Key the answer that was kept comes */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done. Send it again: what is under way or due stays as it is. With the same Idempotency-Key the answer that was kept comes */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listWebhookEndpoints: {
        parameters: {
            query?: {
                /** @description The number of the page. To walk through a list, follow `next` */
                page?: number;
                /** @description The most records of a page */
                page_size?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count": 1,
                     *       "next": null,
                     *       "previous": null,
                     *       "results": [
                     *         {
                     *           "endpoint": "https://shop.example",
                     *           "state": "held",
                     *           "failing_since": "2026-11-20T09:30:00.000Z",
                     *           "held_since": "2026-11-20T09:31:00.000Z",
                     *           "failures": 5,
                     *           "last_status": 503,
                     *           "last_error": null,
                     *           "last_failure_at": "2026-11-20T09:31:00.000Z",
                     *           "last_success_at": "2026-11-20T09:29:00.000Z",
                     *           "next_probe_at": "2026-11-20T09:31:10.000Z",
                     *           "waiting": 7,
                     *           "concurrency": 1
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ListWebhookEndpoints"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of ours; nothing was changed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "callback_url": "https://shop.example/webhooks"
                 *     }
                 */
                "application/json": components["schemas"]["TestWebhook"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Names this request in our logs */
                    "X-Request-Id"?: string;
                    /** @description Requests per minute in the long run */
                    "X-RateLimit-Limit"?: string;
                    /** @description Requests that are left right now */
                    "X-RateLimit-Remaining"?: string;
                    /** @description When all of them will be there again, Unix seconds */
                    "X-RateLimit-Reset"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delivered": true,
                     *       "status": 200,
                     *       "error": null,
                     *       "duration_ms": 143,
                     *       "answer": "ok",
                     *       "webhook_id": "01a1f87d-8c11-7d0e-9a54-1b2f6e0c7a3d"
                     *     }
                     */
                    "application/json": components["schemas"]["TestedWebhook"];
                };
            };
            /** @description Refused; nothing was changed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Refused; nothing was changed */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It may have been done: look before you send it again */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    collectionEnded: {
        parameters: {
            query?: never;
            header: {
                /** @description When this attempt was sent, Unix seconds; refuse one older than 300 s */
                "X-Service-Timestamp": string;
                /** @description Hex HMAC-SHA256, keyed with the app secret, over the timestamp, a dot and the raw body. An app may have a webhook secret of its own for it */
                "X-Service-Signature": string;
                /** @description Counts up by one per merchant */
                "X-Service-Event-Sequence": string;
                /** @description The same at every attempt for one event: take each only once */
                "webhook-id": string;
                /** @description As X-Service-Timestamp */
                "webhook-timestamp": string;
                /** @description The signature of the Standard Webhooks convention; while secrets overlap one for each, separated by a space */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "notification": {
                 *         "type": "collection",
                 *         "event": "transaction.completed"
                 *       },
                 *       "data": {
                 *         "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                 *         "result_code": 0,
                 *         "result_description": "The service request is processed successfully.",
                 *         "amount": "250.00",
                 *         "ref_no": "order-1001",
                 *         "beneficiary": {
                 *           "account": "+254712345678",
                 *           "kyc": null
                 *         },
                 *         "transaction_date": "2026-11-20T09:30:00.000Z",
                 *         "external_ref": "ws_CO_20112026093000",
                 *         "trans_id": "TKJ7A1B2C3"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CollectionEnded"];
            };
        };
        responses: {
            /** @description Taken */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    payoutEnded: {
        parameters: {
            query?: never;
            header: {
                /** @description When this attempt was sent, Unix seconds; refuse one older than 300 s */
                "X-Service-Timestamp": string;
                /** @description Hex HMAC-SHA256, keyed with the app secret, over the timestamp, a dot and the raw body. An app may have a webhook secret of its own for it */
                "X-Service-Signature": string;
                /** @description Counts up by one per merchant */
                "X-Service-Event-Sequence": string;
                /** @description The same at every attempt for one event: take each only once */
                "webhook-id": string;
                /** @description As X-Service-Timestamp */
                "webhook-timestamp": string;
                /** @description The signature of the Standard Webhooks convention; while secrets overlap one for each, separated by a space */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "notification": {
                 *         "type": "payout",
                 *         "event": "transaction.completed"
                 *       },
                 *       "data": {
                 *         "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                 *         "result_code": 0,
                 *         "result_description": "The service request is processed successfully.",
                 *         "amount": "250.00",
                 *         "ref_no": "order-1001",
                 *         "beneficiary": {
                 *           "account": "+254712345678",
                 *           "kyc": null
                 *         },
                 *         "transaction_date": "2026-11-20T09:30:00.000Z",
                 *         "external_ref": "ws_CO_20112026093000",
                 *         "trans_id": "TKJ7A1B2C3"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["PayoutEnded"];
            };
        };
        responses: {
            /** @description Taken */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    reversalEnded: {
        parameters: {
            query?: never;
            header: {
                /** @description When this attempt was sent, Unix seconds; refuse one older than 300 s */
                "X-Service-Timestamp": string;
                /** @description Hex HMAC-SHA256, keyed with the app secret, over the timestamp, a dot and the raw body. An app may have a webhook secret of its own for it */
                "X-Service-Signature": string;
                /** @description Counts up by one per merchant */
                "X-Service-Event-Sequence": string;
                /** @description The same at every attempt for one event: take each only once */
                "webhook-id": string;
                /** @description As X-Service-Timestamp */
                "webhook-timestamp": string;
                /** @description The signature of the Standard Webhooks convention; while secrets overlap one for each, separated by a space */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "notification": {
                 *         "type": "reversal",
                 *         "event": "transaction.completed"
                 *       },
                 *       "data": {
                 *         "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                 *         "result_code": 0,
                 *         "result_description": "The service request is processed successfully.",
                 *         "amount": "250.00",
                 *         "ref_no": "refund-1001",
                 *         "checkout_ref_no": "order-1001",
                 *         "beneficiary": {
                 *           "account": "+254712345678",
                 *           "kyc": null
                 *         },
                 *         "transaction_date": "2026-11-20T09:30:00.000Z",
                 *         "external_ref": "ws_CO_20112026093000",
                 *         "trans_id": "TKJ7A1B2C3",
                 *         "transaction_fee": "0.00"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ReversalEnded"];
            };
        };
        responses: {
            /** @description Taken */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    webhookTested: {
        parameters: {
            query?: never;
            header: {
                /** @description When this attempt was sent, Unix seconds; refuse one older than 300 s */
                "X-Service-Timestamp": string;
                /** @description Hex HMAC-SHA256, keyed with the app secret, over the timestamp, a dot and the raw body. An app may have a webhook secret of its own for it */
                "X-Service-Signature": string;
                /** @description Counts up by one per merchant */
                "X-Service-Event-Sequence": string;
                /** @description The same at every attempt for one event: take each only once */
                "webhook-id": string;
                /** @description As X-Service-Timestamp */
                "webhook-timestamp": string;
                /** @description The signature of the Standard Webhooks convention; while secrets overlap one for each, separated by a space */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "notification": {
                 *         "type": "test",
                 *         "event": "webhook.test"
                 *       },
                 *       "data": {
                 *         "id": "01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f",
                 *         "result_code": 0,
                 *         "result_description": "The service request is processed successfully.",
                 *         "amount": "250.00",
                 *         "ref_no": "order-1001",
                 *         "beneficiary": {
                 *           "account": "+254712345678",
                 *           "kyc": null
                 *         },
                 *         "transaction_date": "2026-11-20T09:30:00.000Z",
                 *         "external_ref": "ws_CO_20112026093000",
                 *         "trans_id": "TKJ7A1B2C3"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["WebhookTested"];
            };
        };
        responses: {
            /** @description Taken */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
