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

export interface NotifyingAlarm extends AlarmText {
  readonly purpose: string;
  readonly severity: Severity;
  readonly section: RunBookSection;
}

export type AlarmProps = MeasuredAlarm & (Above | Below);

interface Above {
  /** Rings above this value; missing data does not ring. */
  readonly above: number;
  /** The metric is written all the time, so missing data rings too. */
  readonly missingRings?: true;
}

interface Below {
  /** Rings below this value and on missing data, for work that should run. */
  readonly below: number;
}

interface MeasuredAlarm extends NotifyingAlarm {
  readonly metric: IMetric;
  /** The alarm needs this many consecutive periods; the default is 1. */
  readonly periods?: number;
  /** Evaluates clock hours that have ended, not the last 60 minutes. */
  readonly wholeHours?: true;
  /** An outage of the platform causes it too, so it is silent while `platform-down` rings. */
  readonly followsOutage?: true;
}

/** This alarm suppresses its consequences. */
export const outageAlarm = 'platform-down';

/** A consequence is notified unless the outage rings within this time. */
const waitForCause = Duration.minutes(2);
/** The backlog is sent after an outage; a consequence that still rings after this time is notified. */
const afterCause = Duration.minutes(15);

const idOf = (purpose: string) => `Alarm-${purpose}`;
/** Names the measuring alarm behind a composite alarm, which decides on the notification. */
export const measureOf = (purpose: string) => `${purpose}-seen`;

export function addAlarm(scope: Construct, settings: AlarmTopics, props: AlarmProps): AlarmBase {
  const { followsOutage, ...measured } = props;
  if (!followsOutage) return withAction(scope, settings, props, addMeasure(scope, settings, measured));
  const measure = addMeasure(scope, settings, { ...measured, purpose: measureOf(props.purpose) });
  return addComposite(scope, settings, {
    ...props,
    rule: AlarmRule.fromAlarm(measure, AlarmState.ALARM),
    suppressor: alarmFor(Stack.of(scope), outageAlarm),
  });
}

/** Adds an alarm without actions, for use in a composite alarm. */
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
          treatMissingData: props.missingRings ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
        }),
  });
  if (props.wholeHours) {
    const { defaultChild } = alarm.node;
    if (!CfnAlarm.isCfnAlarm(defaultChild)) throw new Error(`the alarm ${props.purpose} has no resource`);
    defaultChild.evaluationWindow = { wallClockWindow: { timezone: 'UTC' } };
  }
  return alarm;
}

export interface CompositeProps extends NotifyingAlarm {
  readonly rule: IAlarmRule;
  /** While it rings, this alarm sends no notification; afterwards it does, if it still rings. */
  readonly suppressor?: IAlarm;
}

/** Adds an alarm on the states of other alarms, which need no actions of their own. */
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
  return withAction(scope, settings, props, alarm);
}

function withAction<Of extends AlarmBase>(
  scope: Construct,
  settings: AlarmTopics,
  props: NotifyingAlarm,
  alarm: Of,
): Of {
  const { purpose, severity } = props;
  const topicArn = severity === 'page' ? settings.pageTopicArn : settings.ticketTopicArn;
  if (topicArn === undefined) return alarm;
  const action = new SnsAction(Topic.fromTopicArn(scope, `Topic-${purpose}`, topicArn));
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
  return alarm;
}

/** Finds the alarm for this purpose anywhere in the stack; throws when there is none. */
export function alarmFor(stack: Stack, purpose: string): AlarmBase {
  const found = stack.node.findAll().find((each) => each.node.id === idOf(purpose));
  if (!(found instanceof Alarm || found instanceof CompositeAlarm)) throw new Error(`there is no alarm ${purpose}`);
  return found;
}
