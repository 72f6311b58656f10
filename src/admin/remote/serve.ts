import { Readable, Writable } from 'node:stream';
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import { findStaff } from '../../domain/staff/require-staff.ts';
import { type StaffMember, tokenPrefixOf } from '../../domain/staff/staff.ts';
import { addressOf } from '../../http/caller.ts';
import { strictRouter } from '../../http/http-server.ts';
import { placesFor } from '../../http/places.ts';
import { refusedEvents } from '../../http/refused-events.ts';
import type { Service } from '../../service/service.ts';
import { SECOND_MS } from '../../time.ts';
import { runAdmin } from '../run.ts';
import { TOKEN_VARIABLE } from '../verb.ts';
import { COMMAND_PATH, type Command, command, type Frame, MAX_COMMAND_BYTES } from './messages.ts';

/** Commands at once. Each may read much. */
const COMMANDS = { all: 8, ofMember: 3 };
/** Proofs of the books at once. Each may read everything, on one of the console's few connections. */
const PROOFS = { all: 1, ofMember: 1 };
/** A caller that has read nothing for so long, not even the frames that say "waits", is gone. */
const UNREAD_MS = 60 * SECOND_MS;
/** Shorter than proxies keep a silent connection. */
const WAITS_INTERVAL_MS = 15 * SECOND_MS;

/**
 * Runs commands that members of staff type on their own machines, with their tokens. They need neither
 * the database's address nor the keys of the service.
 */
export function commandRoutes({ comparisons: _, ...service }: Service): Router {
  const router = strictRouter();
  const takeProof = placesFor(PROOFS);
  router.post(
    COMMAND_PATH,
    requireToken(service),
    takePlace(placesFor(COMMANDS)),
    express.raw({ type: 'application/json', limit: MAX_COMMAND_BYTES, inflate: false }),
    async (req, res) => {
      const data = readCommand(req.body);
      if (!data)
        return refuse(res, 400, 'This version of the command line is not that of the service');
      if (res.destroyed) return;
      const { email } = res.locals.member as StaffMember;
      const leaveProof = isProof(data) ? takeProof(email) : () => {};
      if (!leaveProof) return refuse(res, 503, 'The books are being verified now: try again');
      // It runs to its end, also when its caller is gone.
      const leave = res.locals.stay();
      await answer(service, req, res, data).finally(() => {
        leaveProof();
        leave();
      });
    },
  );
  return router;
}

/**
 * Gives a command one of the places before anything of it is read. It leaves the place when its answer is closed,
 * or, if the handler calls `stay`, when the handler says so.
 */
function takePlace(take: ReturnType<typeof placesFor>): RequestHandler {
  return (_req, res, next) => {
    const leave = take((res.locals.member as StaffMember).email);
    if (!leave) return refuse(res, 503, 'Too many commands run now: try again');
    res.once('close', leave);
    res.locals.stay = () => {
      res.off('close', leave);
      return leave;
    };
    res.setTimeout(UNREAD_MS, () => res.destroy());
    next();
  };
}

/** Tells whether a command reads all books. */
function isProof({ args }: Command): boolean {
  return args.includes('ledger') && args.includes('verify');
}

/** Reads a command. @returns null for what no command line sends */
function readCommand(body: unknown): Command | null {
  if (!Buffer.isBuffer(body) || countValues(body) > MAX_VALUES) return null;
  try {
    return command.safeParse(JSON.parse(body.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}

/** A command has fewer arguments and files. More would take much memory before they are refused. */
const MAX_VALUES = 5_000;
const [QUOTE, BACKSLASH] = [0x22, 0x5c];
/** Each value of JSON but the first stands behind one of these. */
const BEFORE_VALUES = new Set(Buffer.from('[{,:'));

/** Counts the values of JSON. A text counts as one value. */
function countValues(json: Buffer): number {
  let count = 0;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]!;
    if (isText && byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) isText = !isText;
    else if (!isText && BEFORE_VALUES.has(byte)) count += 1;
  }
  return count;
}

/** Before anything of a command is read, somebody must be known. */
function requireToken(service: Service): RequestHandler {
  const record = refusedEvents(service);
  return async (req, res, next) => {
    const token = tokenOf(req);
    const member = token === undefined ? null : await findStaff(service.database, token);
    if (member) {
      res.locals.member = member;
      return next();
    }
    const detail = { token: tokenPrefixOf(token ?? ''), why: 'unknown' };
    await record({ kind: 'staff_refused', detail, ip: addressOf(req) });
    refuse(res, 401, 'The staff token is not valid, or another one has replaced it');
  };
}

function tokenOf(req: Request): string | undefined {
  return /^Bearer (\S+)$/.exec(req.get('authorization') ?? '')?.[1];
}

function refuse(res: Response, status: number, error: string): void {
  res.status(status).json({ error });
}

/** Runs a command to its end, also when nobody reads its answer any more. */
async function answer(
  service: Service,
  req: Request,
  res: Response,
  { args, input, columns, files }: Command,
): Promise<void> {
  res.type('application/x-ndjson').set('Cache-Control', 'no-store');
  const send = (frame: Frame, done: () => void = () => {}) => {
    if (res.destroyed) return done();
    res.write(`${JSON.stringify(frame)}\n`, () => done());
  };
  const waiting = setInterval(() => send({ waits: true }), WAITS_INTERVAL_MS);
  try {
    const status = await runAdmin(args, async () => service, {
      env: { [TOKEN_VARIABLE]: tokenOf(req)! },
      stdin: Readable.from([Buffer.from(input)]),
      stdout: Object.assign(outputTo('out', send), columns !== null && { isTTY: true, columns }),
      stderr: outputTo('err', send),
      caller: {
        address: addressOf(req),
        files: new Map(
          Object.entries(files).map(([path, content]) => [path, Buffer.from(content, 'base64')]),
        ),
      },
    });
    send({ status });
  } finally {
    clearInterval(waiting);
    res.end();
  }
}

function outputTo(name: 'out' | 'err', send: (frame: Frame, done: () => void) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => send({ [name]: text } as Frame, done),
  });
}
