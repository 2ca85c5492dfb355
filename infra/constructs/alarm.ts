import type { Stack } from 'aws-cdk-lib';
import { Alarm, CfnAlarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { resourceName } from '../names.ts';
import type { Settings } from '../settings.ts';

export interface AlarmText {
  readonly whoIsHurt: string;
  readonly whatToDo: string;
}

export interface AlarmProps extends AlarmText {
  readonly purpose: string;
  readonly metric: IMetric;
  /** Rings above this value ... */
  readonly above: number;
  /** ... for this many periods of the metric in a row; 1 when left out. */
  readonly periods?: number;
  /** Looks at hours of the clock that have ended, not at the last 60 minutes: for a metric with a period of an hour. */
  readonly wholeHours?: true;
}

const idOf = (purpose: string) => `Alarm-${purpose}`;

/** An alarm that tells who is hurt and what to do, and reaches the topic of the settings when there is one. */
export function addAlarm(scope: Construct, settings: Settings, props: AlarmProps): Alarm {
  const alarm = new Alarm(scope, idOf(props.purpose), {
    alarmName: resourceName(settings.stage, props.purpose),
    alarmDescription: `${props.whoIsHurt} ${props.whatToDo}`,
    metric: props.metric,
    threshold: props.above,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    evaluationPeriods: props.periods ?? 1,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
  if (props.wholeHours) {
    const { defaultChild } = alarm.node;
    if (!CfnAlarm.isCfnAlarm(defaultChild)) throw new Error(`the alarm ${props.purpose} has no resource`);
    defaultChild.evaluationWindow = { wallClockWindow: { timezone: 'UTC' } };
  }
  if (settings.alarmTopicArn === undefined) return alarm;
  const action = new SnsAction(Topic.fromTopicArn(scope, `Topic-${props.purpose}`, settings.alarmTopicArn));
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
  return alarm;
}

/** The alarm that was added anywhere in the stack for this purpose. */
export function alarmFor(stack: Stack, purpose: string): Alarm {
  const found = stack.node.findAll().find((each) => each.node.id === idOf(purpose));
  if (!(found instanceof Alarm)) throw new Error(`there is no alarm ${purpose}`);
  return found;
}
