import type { Construct } from 'constructs';
import { percentage, receiptsMissing, serviceMetric } from '../metrics.ts';
import type { Settings } from '../settings.ts';
import { addAlarm } from './alarm.ts';

/** Adds alarms on the functions' own metrics; infra/operate/README.md explains each. */
export function addServiceAlarms(scope: Construct, settings: Settings): void {
  const sent = serviceMetric(settings, 'MessagesSent');
  const held = serviceMetric(settings, 'MessagesHeld');
  const failed = serviceMetric(settings, 'MessagesFailed');
  const expired = serviceMetric(settings, 'MessagesExpired');
  const unknown = serviceMetric(settings, 'MessagesUnknown');
  addAlarm(scope, settings, {
    ...{ purpose: 'outcomes-unknown', severity: 'ticket', section: 'messages', followsOutage: true },
    // One or two come from a broken connection, and a receipt settles most of them.
    metric: serviceMetric(settings, 'MessagesUnknown', 60),
    above: 10,
    whoIsHurt:
      'Clients who cannot know of more than ten messages in an hour whether a recipient got them; none is sent again by itself.',
    whatToDo:
      'Find them in the log (send.unknown) and read their codes (infra/ops explain CODE). Receipts settle most of them; an operator who has learned the outcome, from the recipient or the support of the platform, settles one with infra/ops outcomes --resolve.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'messages-failed-share', severity: 'page', section: 'messages', followsOutage: true },
    metric: percentage({ part: [failed, expired, unknown], rest: [sent, held] }, 50),
    above: 20,
    periods: 3,
    whoIsHurt: 'Recipients who get no message: more than a fifth of them for 15 minutes.',
    whatToDo:
      'Look at the platform errors by code on the dashboard, then at one dispatch with infra/ops outcomes: one client alone has bad numbers or a blocked account, all together point to the platform or to a deployment.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'platform-credential-refused', severity: 'page', section: 'platform' },
    metric: serviceMetric(settings, 'PlatformCredentialRefused'),
    above: 0,
    whoIsHurt:
      'Clients of the WABAs whose access token the platform refuses: nothing is sent, created or synchronized.',
    whatToDo:
      'Find the WABA in the log (wabaId of send.credential_refused and sync.waba_failed, wabaIds of the line that counts PlatformCredentialRefused), then infra/ops credential WABA --token - with a valid token; waiting messages are sent by themselves, for a day.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'messages-expired', severity: 'ticket', section: 'messages', followsOutage: true },
    metric: serviceMetric(settings, 'MessagesExpired', 15),
    above: 20,
    whoIsHurt: 'Recipients of more than 20 messages in 15 minutes that were too late to be sent, and are not.',
    whatToDo:
      'Look for a hold (infra/ops holds) and at the ages of the queues; else a client gives its messages less time than they take: infra/ops outcomes --since 1h shows whose.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'holds', severity: 'page', section: 'platform', followsOutage: true },
    metric: serviceMetric(settings, 'HoldsStanding', 15),
    above: 0,
    whoIsHurt:
      'Clients of a WABA, or of a number, that the platform lets send nothing at the moment: their messages wait, and expire after a day.',
    whatToDo:
      'Run infra/ops holds: it names what is held, by which code, what lifts that, and who waits (run book, "A hold"). Messages go on by themselves once the cause is removed.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'category-holds', severity: 'ticket', section: 'platform', followsOutage: true },
    metric: serviceMetric(settings, 'CategoryHoldsStanding', 15),
    above: 0,
    whoIsHurt: 'Clients whose UTILITY or MARKETING messages the platform does not let leave; their others do.',
    whatToDo: 'Run infra/ops holds, as for holds; time lifts most of these.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'numbers-fallen', severity: 'ticket', section: 'templates' },
    metric: serviceMetric(settings, 'NumbersFallen', 15),
    above: 0,
    whoIsHurt:
      'Clients of a number that may write to fewer people, or more slowly, or whose quality is worse than it was.',
    whatToDo:
      'Find wabaId, clientId and code of number.fallen in the log and tell the client: people block or report its messages, and it should send less marketing before its limit falls.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'login-failures', severity: 'ticket', section: 'requests', periods: 3 },
    metric: serviceMetric(settings, 'LoginFailures'),
    // Users mistype, and a client with an old password retries again and again.
    above: 100,
    whoIsHurt:
      'Clients whose passwords are guessed, or one that logs in with a wrong one: over 100 refusals in 5 minutes.',
    whatToDo:
      'Find addresses in the access log (POST /login, status 401; with an edge: request.unauthorized in the log of login). Guesses of one user, or from one address, are slowed down by login itself (R38).',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'platform-signatures-refused', severity: 'ticket', section: 'platform' },
    metric: serviceMetric(settings, 'PlatformSignaturesRefused'),
    // A stranger's one or two attempts must not wake a person; the platform repeats what was refused.
    above: 5,
    periods: 2,
    whoIsHurt: 'Clients who are not told what became of their messages, if it is the platform that is refused.',
    whatToDo:
      'Look at the source addresses of POST /platform/webhook in the access log (with an edge: request.unauthorized in the log). The platform: provision the secret that its app has now, the one before as previous_app_secret; it repeats everything for days. A stranger: nothing, nothing was read.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'receipts-missing', severity: 'page', section: 'platform' },
    // An ended hour includes a campaign of ten minutes, and its receipts have had time to arrive.
    metric: receiptsMissing(settings, { atLeast: 10 }),
    above: 0,
    wholeHours: true,
    whoIsHurt: 'Clients who believe that messages arrived: for an hour the platform has told of none that left.',
    whatToDo:
      'Run infra/ops provision FILE --dry-run: it says which WABAs are not subscribed. Then look at platform-signatures-refused, at the errors of platform-webhook-receive, and at the address and the field messages in the app at the platform.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'sync-wabas-failed', severity: 'ticket', section: 'templates', followsOutage: true },
    metric: serviceMetric(settings, 'SyncWabasFailed', 15),
    above: 0,
    whoIsHurt: 'Clients of a WABA that could not be synchronized: their listing shows templates as they were before.',
    whatToDo: 'Read platformCode and error of sync.waba_failed in the log, remove the cause, synchronize again.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'hint-readings-failed', severity: 'ticket', section: 'templates', followsOutage: true },
    metric: serviceMetric(settings, 'HintReadingsFailed', 15),
    // A transient failure is read again within minutes.
    above: 3,
    whoIsHurt: 'Clients of a WABA whose templates or numbers have changed: they see and send by what was before.',
    whatToDo:
      'Read wabaId, platformCode and error of hint.not_read in the log and remove the cause; what is left is read by itself within an hour, or at once by a synchronization.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'templates-skipped', severity: 'ticket', section: 'templates' },
    metric: serviceMetric(settings, 'TemplatesSkipped', 15),
    above: 0,
    whoIsHurt:
      'Clients of a WABA with a template that cannot be held here: their listing lacks it, or shows it as it was before.',
    whatToDo:
      'Read code and templateId of template.skipped in the log, have the template made smaller or deleted on the pages of the platform, synchronize again.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'authorizer-failures', severity: 'page', section: 'requests' },
    metric: serviceMetric(settings, 'AuthorizerFailures'),
    above: 0,
    whoIsHurt: 'Everybody with a token: without the verification keys each request ends with a status of 500.',
    whatToDo:
      'Read authorizer.failed in its log; check that the secret token-verification-keys holds keys (infra/ops rotate-keys) and that Secrets Manager answers.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'requests-not-budgeted', severity: 'ticket', section: 'requests' },
    metric: serviceMetric(settings, 'RequestsNotBudgeted'),
    // A single slow write is no outage.
    above: 20,
    periods: 2,
    whoIsHurt: 'Clients beside one that floods: for 10 minutes requests pass without being counted for their client.',
    whatToDo:
      'Read error of budget.not_leased in the log of any endpoint, and look at the table budgets: throttled, gone, or not to be written by a role. No client is refused meanwhile; the limits of the stage still hold.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'audit-not-written', severity: 'ticket', section: 'requests' },
    metric: serviceMetric(settings, 'AuditNotWritten'),
    above: 0,
    whoIsHurt: 'Clients who ask later which of their users did what: acts are missing in the table audit.',
    whatToDo:
      'The facts are in the log, audit.not_written: keep them for as long as the audit. Read error there, and look at the table audit: throttled, gone, or not to be written by a role. Requests are answered as ever.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'events-not-queued', severity: 'ticket', section: 'receivers' },
    metric: serviceMetric(settings, 'EventsNotQueued'),
    above: 0,
    whoIsHurt:
      'Clients who are not told of a template that was created, edited or deleted; nothing repeats that event.',
    whatToDo:
      'Read event.not_queued in the log: it names client, kind and id. Look why SQS took nothing, and tell the client to look at its listing.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'webhook-events-abandoned', severity: 'ticket', section: 'receivers' },
    metric: serviceMetric(settings, 'WebhookEventsAbandoned'),
    above: 0,
    whoIsHurt: 'Clients whose receiver was away for longer than events are tried again: some were not told.',
    whatToDo:
      'Find clientId in webhook.abandoned; once the receiver answers, send what it missed with infra/ops events replay, within 7 days.',
  });
  addAlarm(scope, settings, {
    ...{ purpose: 'webhook-switched-off', severity: 'ticket', section: 'receivers' },
    metric: serviceMetric(settings, 'WebhooksSwitchedOff'),
    above: 0,
    whoIsHurt: 'Clients whose receiver answered 410 or failed for five days: they are told nothing any more.',
    whatToDo:
      'Find the client in the lines webhook.switched_off of events-deliver and tell it: it switches its webhook on with PUT /v1/webhook/config, and infra/ops events replay sends what it missed.',
  });
}

/**
 * Adds the suppressor of the outage's consequences; it must exist before the alarms that refer to it (alarm.ts,
 * `followsOutage`).
 */
export function addOutageAlarm(scope: Construct, settings: Settings): void {
  addAlarm(scope, settings, {
    ...{ purpose: 'platform-down', severity: 'page', section: 'platform' },
    metric: serviceMetric(settings, 'PlatformDown'),
    above: 0,
    whoIsHurt: 'Everybody who sends: the platform answers nothing, and messages wait until it does.',
    whatToDo:
      'Look at the status page of the platform, then at the way there: name resolution, network, certificates. Nothing is sent meanwhile; it is asked again at least every half minute, and messages go on by themselves (platform.back in the log).',
  });
}
