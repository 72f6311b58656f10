import { DAY_MS } from '../../../time.ts';
import type { Finding } from '../../gateway.ts';
import { initiatorOf } from '../account.ts';
import type { DarajaConfig, DarajaShortcode } from '../config.ts';
import { passwordEnd } from '../daraja-gateway.ts';
import { ok, warning, wrong } from './findings.ts';

/** The operator has so long to set the next password. The alert begins then too. */
const MIN_PASSWORD_LIFE_MS = 14 * DAY_MS;

/** Tells whether a shortcode has all that it needs for what it carries. */
export function checkConfiguration(config: DarajaConfig, settings: DarajaShortcode): Finding[] {
  return [
    routed(config, settings),
    ...(config.collections === settings.shortcode ? collecting(settings) : []),
    ...(config.payouts === settings.shortcode ? paying(settings) : []),
    ...(initiatorOf(settings) ? [password(settings.passwordSetOn)] : []),
  ];
}

/** The rules of the configuration see to it that a route has what its requests need. */
function routed({ collections, payouts }: DarajaConfig, { shortcode }: DarajaShortcode): Finding {
  const carried = [
    collections === shortcode && 'collections',
    payouts === shortcode && 'payouts',
  ].filter((each) => each !== false);
  return carried.length > 0
    ? ok('configuration', `carries new ${carried.join(' and ')}`)
    : ok('configuration', 'carries nothing new, only what is open');
}

function collecting(settings: DarajaShortcode): Finding[] {
  return [
    initiatorOf(settings)
      ? ok('reversals', 'an initiator is configured')
      : wrong('reversals', 'cannot be made without initiator: configure one with its credential'),
    settings.nominatedNumber !== null
      ? ok('statements', 'a nominated number is configured')
      : warning(
          'statements',
          'cannot be asked for: set nominated_number. Prompts whose acknowledgement is lost wait for support',
        ),
  ];
}

function paying({ floatAlertBelowCents }: DarajaShortcode): Finding[] {
  return floatAlertBelowCents === null
    ? [warning('float', 'nobody is told when it is low: set float_alert_below')]
    : [ok('float', 'an alert comes when it is low')];
}

function password(setOn: Date | null): Finding {
  const about = 'initiator password';
  if (setOn === null) {
    return warning(
      about,
      'its end is not known: set password_set_on to the day on which it was set',
    );
  }
  const end = passwordEnd(setOn);
  const leftMs = end.getTime() - Date.now();
  const day = end.toISOString().slice(0, 'yyyy-mm-dd'.length);
  const advice = 'set a new one in the portal, and put it into the configuration with its date';
  if (leftMs <= 0) return wrong(about, `ended on ${day}: ${advice}`);
  if (leftMs < MIN_PASSWORD_LIFE_MS) return warning(about, `ends on ${day}: ${advice}`);
  return ok(about, `ends on ${day}`);
}
