import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmBase,
  AlarmRule,
  AlarmState,
  CfnAlarm,
  ComparisonOperator,
  CompositeAlarm,
  type IAlarm,
  type IAlarmRule,
  type IMetric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { resourceName } from '../names.ts';
import { type AlarmTopics, alarmDescription, type RunBookSection, type Severity } from '../severity.ts';

export interface AlarmText {
  readonly whoIsHurt: string;
  readonly whatToDo: string;
}

/** What every alarm says of itself, whatever it looks at. */
export interface ToldAlarm extends AlarmText {
  readonly purpose: string;
  readonly severity: Severity;
  /** The paragraph of the run book that explains it. */
  readonly section: RunBookSection;
}

export type AlarmProps = MeasuredAlarm & (Above | Below);

interface Above {
  /** Rings above this value; what is not measured does not ring. */
  readonly above: number;
}

interface Below {
  /** Rings below this value, and where nothing is measured: what should run does not. */
  readonly below: number;
}

interface MeasuredAlarm extends ToldAlarm {
  readonly metric: IMetric;
  /** For this many periods of the metric in a row; 1 when left out. */
  readonly periods?: number;
  /** Looks at hours of the clock that have ended, not at the last 60 minutes: for a metric with a period of an hour. */
  readonly wholeHours?: true;
  /** The platform's outage brings it about: it tells its topic only while `platform-down` does not ring (`addCause`). */
  readonly followsOutage?: true;
}

/** The alarm that silences what follows from it. */
export const outageAlarm = 'platform-down';

/** The outage must have begun to ring in this time, or what follows from it is told. */
const waitForCause = Duration.minutes(2);
/** After the outage the backlog leaves; what rings still afterwards is told. */
const afterCause = Duration.minutes(15);

const idOf = (purpose: string) => `Alarm-${purpose}`;
/** What is measured, where a composite alarm decides whether it is told. */
export const seen = (purpose: string) => `${purpose}-seen`;

/** An alarm that tells its severity, who is hurt, what to do and where that is written, and reaches the topic of its severity. */
export function addAlarm(scope: Construct, settings: AlarmTopics, props: AlarmProps): AlarmBase {
  const { followsOutage, ...measured } = props;
  if (!followsOutage) return telling(scope, settings, props, addMeasure(scope, settings, measured));
  const measure = addMeasure(scope, settings, { ...measured, purpose: seen(props.purpose) });
  return addComposite(scope, settings, {
    ...props,
    rule: AlarmRule.fromAlarm(measure, AlarmState.ALARM),
    suppressor: alarmFor(Stack.of(scope), outageAlarm),
  });
}

/** An alarm without actions, for a composite one to look at. */
export function addMeasure(scope: Construct, settings: AlarmTopics, props: AlarmProps): Alarm {
  const alarm = new Alarm(scope, idOf(props.purpose), {
    alarmName: resourceName(settings.stage, props.purpose),
    alarmDescription: alarmDescription(props),
    metric: props.metric,
    evaluationPeriods: props.periods ?? 1,
    ...('below' in props
      ? {
          threshold: props.below,
          comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
          treatMissingData: TreatMissingData.BREACHING,
        }
      : {
          threshold: props.above,
          comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
          treatMissingData: TreatMissingData.NOT_BREACHING,
        }),
  });
  if (props.wholeHours) {
    const { defaultChild } = alarm.node;
    if (!CfnAlarm.isCfnAlarm(defaultChild)) throw new Error(`the alarm ${props.purpose} has no resource`);
    defaultChild.evaluationWindow = { wallClockWindow: { timezone: 'UTC' } };
  }
  return alarm;
}

export interface CompositeProps extends ToldAlarm {
  readonly rule: IAlarmRule;
  /** While it rings, this one tells nothing; it tells afterwards if it still rings. */
  readonly suppressor?: IAlarm;
}

/** An alarm on the states of others, which have no actions of their own. */
export function addComposite(scope: Construct, settings: AlarmTopics, props: CompositeProps): CompositeAlarm {
  const { purpose, rule, suppressor } = props;
  const alarm = new CompositeAlarm(scope, idOf(purpose), {
    compositeAlarmName: resourceName(settings.stage, purpose),
    alarmDescription: alarmDescription(props),
    alarmRule: rule,
    ...(suppressor === undefined
      ? {}
      : {
          actionsSuppressor: suppressor,
          actionsSuppressorWaitPeriod: waitForCause,
          actionsSuppressorExtensionPeriod: afterCause,
        }),
  });
  return telling(scope, settings, props, alarm);
}

function telling<Of extends AlarmBase>(scope: Construct, settings: AlarmTopics, told: ToldAlarm, alarm: Of): Of {
  const { purpose, severity } = told;
  const topicArn = severity === 'page' ? settings.pageTopicArn : settings.ticketTopicArn;
  if (topicArn === undefined) return alarm;
  const action = new SnsAction(Topic.fromTopicArn(scope, `Topic-${purpose}`, topicArn));
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
  return alarm;
}

/** The alarm that was added anywhere in the stack for this purpose. */
export function alarmFor(stack: Stack, purpose: string): AlarmBase {
  const found = stack.node.findAll().find((each) => each.node.id === idOf(purpose));
  if (!(found instanceof Alarm || found instanceof CompositeAlarm)) throw new Error(`there is no alarm ${purpose}`);
  return found;
}
