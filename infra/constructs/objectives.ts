import { Duration } from 'aws-cdk-lib';
import { AlarmRule, AlarmState, type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { serviceMetric } from '../metrics.ts';
import type { RouteEntry } from '../routes.ts';
import type { Settings } from '../settings.ts';
import type { Severity } from '../severity.ts';
import { type AlarmText, addComposite, addMeasure } from './alarm.ts';
import type { ServiceApi } from './service-api.ts';

/**
 * Three objectives over 30 days have alarms on the burn rate of their error budgets (infra/operate/README.md); rate 1
 * spends the budget in 30 days. The short window ends an alarm soon after its cause.
 */
interface Objective {
  readonly name: string;
  readonly allowedPercent: number;
  readonly measured: (minutes: number) => { readonly bad: Counted; readonly all: Counted };
  readonly text: AlarmText;
}

interface Counted {
  readonly sum: readonly IMetric[];
  readonly less?: IMetric;
}

interface Burn {
  readonly name: string;
  readonly severity: Severity;
  readonly longMinutes: number;
  readonly shortMinutes: number;
  /** The alarm rings above this burn rate. */
  readonly rate: number;
}

/** The rates spend 2 % of the 30-day budget in an hour, 5 % in six hours, 10 % in a day. */
export const burns: readonly Burn[] = [
  { name: 'fast', severity: 'page', longMinutes: 60, shortMinutes: 5, rate: 14.4 },
  { name: 'slow', severity: 'ticket', longMinutes: 360, shortMinutes: 30, rate: 6 },
  { name: 'creeping', severity: 'ticket', longMinutes: 1_440, shortMinutes: 120, rate: 3 },
];

/** Nothing rings below this count in the long window, because one of few requests is a large share. */
export const leastBad = 5;

const sending = ['messages-send', 'messages-retry'];

export function addObjectives(scope: Construct, settings: Settings, api: ServiceApi): void {
  const routes = api.routes.filter(({ operation }) => sending.includes(operation));
  for (const objective of [acceptance(settings, api, routes), delivery(settings), codes(settings)]) {
    for (const burn of burns) addBurnAlarm(scope, settings, objective, burn);
  }
}

function acceptance(settings: Settings, api: ServiceApi, routes: readonly RouteEntry[]): Objective {
  const ofRoutes = (name: string, minutes: number) => routes.map((each) => api.routeMetric(each, name, 'Sum', minutes));
  return {
    name: 'acceptance',
    allowedPercent: 0.1,
    measured: (minutes) => ({
      bad: { sum: ofRoutes('5xx', minutes), less: serviceMetric(settings, 'SendsFailedByPlatform', minutes) },
      all: { sum: ofRoutes('Count', minutes) },
    }),
    text: {
      whoIsHurt: 'Clients whose sends are answered with 500 or above, and not for the platform: 99.9 % shall not be.',
      whatToDo:
        'Right after a deployment: roll it back. Else find request.failed of messages-send and messages-retry in their logs, and 5xx of their routes in the access log: tables, SQS, authorizer.',
    },
  };
}

function delivery(settings: Settings): Objective {
  return {
    name: 'delivery',
    allowedPercent: 1,
    measured: (minutes) => ({
      bad: { sum: [serviceMetric(settings, 'BacklogOverdue', minutes)] },
      all: { sum: [serviceMetric(settings, 'BacklogDue', minutes)] },
    }),
    text: {
      whoIsHurt:
        'Clients with a dispatch that is due and not held, and that no run has sent from for five minutes: of all minutes of due dispatches, 99 % shall have a run.',
      whatToDo:
        'Read dispatch.overdue in the log of messages-sweep, which names the dispatches: look with infra/ops number at their numbers, then at dispatch-age and at errors, throttles and duration of messages-dispatch.',
    },
  };
}

function codes(settings: Settings): Objective {
  return {
    name: 'codes',
    allowedPercent: 1,
    measured: (minutes) => ({
      bad: { sum: [serviceMetric(settings, 'CodesLate', minutes)] },
      all: { sum: [serviceMetric(settings, 'CodesCalled', minutes)] },
    }),
    text: {
      whoIsHurt: 'Recipients who wait for a one-time code: 99 % shall be called for within five seconds of acceptance.',
      whatToDo:
        'Look at urgent-age and at errors, throttles and duration of messages-dispatch-urgent, then with infra/ops number at the numbers of the codes: their pace, their sender, and what stands in front of their backlog.',
    },
  };
}

function addBurnAlarm(scope: Construct, settings: Settings, { name, text, ...objective }: Objective, burn: Burn): void {
  const { severity, rate } = burn;
  const purpose = `${name}-burn-${burn.name}`;
  const shared = { ...text, severity, section: 'objectives' } as const;
  const measure = (window: 'long' | 'short', minutes: number) =>
    addMeasure(scope, settings, {
      ...shared,
      purpose: `${purpose}-${window}`,
      metric: burnRate(objective, minutes, window === 'long' ? leastBad : 1),
      above: rate,
    });
  const windows = [measure('long', burn.longMinutes), measure('short', burn.shortMinutes)];
  const rule = AlarmRule.allOf(...windows.map((alarm) => AlarmRule.fromAlarm(alarm, AlarmState.ALARM)));
  addComposite(scope, settings, { ...shared, purpose, rule });
}

/** Returns 0 with fewer than `atLeast` bad ones. */
function burnRate(
  { measured, allowedPercent }: Pick<Objective, 'measured' | 'allowedPercent'>,
  minutes: number,
  atLeast: number,
): MathExpression {
  const { bad, all } = measured(minutes);
  const named = (prefix: string, metrics: readonly IMetric[]) =>
    metrics.map((metric, at) => [`${prefix}${at}`, metric]);
  const sum = (prefix: string, metrics: readonly IMetric[]) =>
    metrics.map((_, at) => `FILL(${prefix}${at}, 0)`).join(' + ');
  const badText = `(${sum('bad', bad.sum)}${bad.less === undefined ? '' : ' - FILL(excused, 0)'})`;
  return new MathExpression({
    expression: `IF(${badText} >= ${atLeast}, ${100 / allowedPercent} * ${badText} / (${sum('all', all.sum)}), 0)`,
    usingMetrics: {
      ...Object.fromEntries([...named('bad', bad.sum), ...named('all', all.sum)]),
      ...(bad.less === undefined ? {} : { excused: bad.less }),
    },
    period: Duration.minutes(minutes),
  });
}
