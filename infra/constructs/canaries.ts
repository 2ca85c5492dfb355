import { Duration, Validations } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { resourceName } from '../names.ts';
import type { Settings } from '../settings.ts';
import { addAlarm } from './alarm.ts';

export interface Tried {
  readonly name: string;
  readonly alias: Alias;
}

/**
 * A new version gets a tenth of the calls for five minutes; only its own errors roll the deployment back, because an
 * outage must not block a repair. Without the setting `canary` the alias moves at once.
 */
export class Canaries extends Construct {
  constructor(scope: Construct, id: string, { settings, tried }: { settings: Settings; tried: readonly Tried[] }) {
    super(scope, id);
    const application = new LambdaApplication(this, 'Application', {
      applicationName: resourceName(settings.stage, 'functions'),
    });
    // AWS's managed policy lets CodeDeploy move aliases and read alarms.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('codedeploy.amazonaws.com') });
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason:
        'CodeDeploy needs what AWS says it needs: it moves aliases, reads alarms and calls hooks, of which there are none.',
    });
    const isCareful = settings.canary === 'true';
    for (const each of tried) {
      const errors = this.errorsAlarm(each, settings);
      new LambdaDeploymentGroup(this, each.name, {
        application,
        deploymentGroupName: resourceName(settings.stage, each.name),
        role,
        alias: each.alias,
        deploymentConfig: isCareful
          ? LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES
          : LambdaDeploymentConfig.ALL_AT_ONCE,
        alarms: isCareful ? [errors] : [],
        autoRollback: { failedDeployment: true, deploymentInAlarm: isCareful },
      });
    }
  }

  /** Errors of the version before do not count. */
  private errorsAlarm({ name, alias }: Tried, settings: Settings) {
    const { version } = alias.version;
    const functionName = resourceName(settings.stage, name);
    return addAlarm(this, settings, {
      purpose: `${name}-new-version`,
      severity: 'ticket',
      section: 'functions',
      metric: new Metric({
        namespace: 'AWS/Lambda',
        metricName: 'Errors',
        dimensionsMap: {
          FunctionName: functionName,
          Resource: `${functionName}:${alias.aliasName}`,
          ExecutedVersion: version,
        },
        statistic: 'Sum',
        period: Duration.minutes(1),
      }),
      above: 0,
      whoIsHurt: `Everybody who meets the new version of ${name}, a call in ten: it fails.`,
      whatToDo: `The deployment is taken back by itself. Read the log of ${name} for the time of the alarm before the next one.`,
    });
  }
}
