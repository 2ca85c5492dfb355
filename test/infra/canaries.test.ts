import { describe, expect, it } from 'vitest';
import { resourceName } from '../../infra/names.ts';
import { stacksOf } from '../support/stack-templates.ts';

/* New versions of the critical functions get a tenth of the calls first, and only their own errors roll them back. */

const service = stacksOf('plain');
const purposeOf = (alarmName: string) => alarmName.replace('template-messaging-test-', '');
const tried = ['authorizer', 'messages-dispatch', 'messages-dispatch-urgent', 'messages-send'];

const aliases = service.all('AWS::Lambda::Alias');
const idOf = (name: string) =>
  service.all('AWS::Lambda::Function').find(({ properties }) => properties.FunctionName === resourceName('test', name))
    ?.id;

it('these four have an alias, and no other', () => {
  const called = aliases.map(({ properties }) => service.called(properties.FunctionName));
  expect(called.toSorted()).toEqual(tried.map(idOf).toSorted());
});

describe.each(tried)('%s', (name) => {
  const alias = aliases.find(({ properties }) => service.called(properties.FunctionName) === idOf(name));
  const [group, ...others] = service
    .all('AWS::CodeDeploy::DeploymentGroup')
    .filter(({ properties }) => properties.DeploymentGroupName === resourceName('test', name));

  it('is live in its newest version', () => {
    expect(alias?.properties.Name).toBe('live');
    const version = service.all('AWS::Lambda::Version').find(({ id }) => {
      return id === service.target(alias?.properties.FunctionVersion);
    });
    expect(service.target(version?.properties.FunctionName)).toBe(idOf(name));
  });

  it('is called by its alias alone', () => {
    const callers = [
      'AWS::ApiGatewayV2::Integration',
      'AWS::ApiGatewayV2::Authorizer',
      'AWS::Lambda::EventSourceMapping',
    ];
    const references = callers.flatMap((type) =>
      service.all(type).map(({ properties }) => {
        return JSON.stringify(properties.IntegrationUri ?? properties.AuthorizerUri ?? properties.FunctionName);
      }),
    );
    expect(references.filter((each) => each.includes(`"${idOf(name)}"`))).toEqual([]);
    expect(references.filter((each) => each.includes(`"${alias?.id}"`))).toHaveLength(1);
  });

  it('changes version by a tenth for five minutes, and back by errors of that version alone', () => {
    expect(others).toEqual([]);
    expect(group?.properties).toMatchObject({
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
      AutoRollbackConfiguration: { Enabled: true },
      DeploymentStyle: { DeploymentType: 'BLUE_GREEN', DeploymentOption: 'WITH_TRAFFIC_CONTROL' },
    });
    const { Events } = group?.properties.AutoRollbackConfiguration ?? {};
    expect(Events.toSorted()).toEqual(['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM']);
    const { Alarms, Enabled } = group?.properties.AlarmConfiguration ?? {};
    expect(Enabled).toBe(true);
    const purposes = Alarms.map(({ Name }: { Name: unknown }) => {
      const alarm = service.all('AWS::CloudWatch::Alarm').find(({ id }) => id === service.target(Name));
      return purposeOf(alarm?.properties.AlarmName);
    });
    expect(purposes).toEqual([`${name}-new-version`]);
  });

  it('has an alarm on the errors of the version that the alias leads to', () => {
    const alarm = service
      .all('AWS::CloudWatch::Alarm')
      .find(({ properties }) => properties.AlarmName === resourceName('test', `${name}-new-version`));
    expect(alarm?.properties).toMatchObject({
      MetricName: 'Errors',
      Namespace: 'AWS/Lambda',
      Period: 60,
      Threshold: 0,
    });
    const dimensions = new Map(
      alarm?.properties.Dimensions.map((each: { Name: string; Value: unknown }) => [each.Name, each.Value]),
    );
    expect(dimensions.get('FunctionName')).toBe(resourceName('test', name));
    expect(dimensions.get('Resource')).toBe(`${resourceName('test', name)}:live`);
    expect(dimensions.get('ExecutedVersion')).toEqual(alias?.properties.FunctionVersion);
  });

  it('moves at once, and past every alarm, where canary is false', () => {
    const groups = stacksOf('chosen').all('AWS::CodeDeploy::DeploymentGroup');
    const { properties } =
      groups.find((each) => each.properties.DeploymentGroupName === resourceName('test', name)) ?? {};
    expect(properties.DeploymentConfigName).toBe('CodeDeployDefault.LambdaAllAtOnce');
    expect(properties.AlarmConfiguration?.Alarms ?? []).toEqual([]);
    expect(properties.AutoRollbackConfiguration.Events).toEqual(['DEPLOYMENT_FAILURE']);
  });
});

it('CodeDeploy has the rights that AWS lists, and only CodeDeploy can assume its role', () => {
  const roles = service
    .all('AWS::IAM::Role')
    .filter(({ properties }) => JSON.stringify(properties).includes('codedeploy.amazonaws.com'));
  expect(roles).toHaveLength(1);
  expect(JSON.stringify(roles[0]?.properties.ManagedPolicyArns)).toContain('AWSCodeDeployRoleForLambdaLimited');
  expect(roles[0]?.properties.ManagedPolicyArns).toHaveLength(1);
  expect(roles[0]?.properties.AssumeRolePolicyDocument.Statement).toHaveLength(1);
});
