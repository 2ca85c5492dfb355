import { describe, expect, it } from 'vitest';
import { resourceName } from '../../infra/names.ts';
import { decodeSync, encodeSync } from '../../lib/templates/sync/sync-message.ts';
import { synthesize } from '../support/synthesized.ts';

describe('scheduled synchronization', () => {
  it('is off by default', () => {
    expect(synthesize({ stage: 'test' }).all('AWS::Scheduler::Schedule')).toEqual([]);
  });

  it.each(['rate(6 hours)', 'rate(1 day)', 'cron(0 3 * * ? *)', 'cron(0/30 8-17 ? * MON-FRI *)'])(
    'runs at %s',
    (syncSchedule) => {
      const service = synthesize({ stage: 'test', syncSchedule });
      const [schedule, ...others] = service.all('AWS::Scheduler::Schedule');
      expect(others).toEqual([]);
      expect(schedule?.properties).toMatchObject({
        ScheduleExpression: syncSchedule,
        FlexibleTimeWindow: { Mode: 'OFF' },
      });
      const { Arn, Input, RoleArn } = schedule?.properties.Target ?? {};
      const queue = service
        .all('AWS::SQS::Queue')
        .find(({ properties }) => properties.QueueName === resourceName('test', 'sync'));
      expect(service.target(Arn)).toBe(queue?.id);
      expect(decodeSync(Input)).toMatchObject({ walk: { turn: 0, after: 0 } });
      // As the code says it too (D47).
      expect(JSON.parse(Input).version).toBe(JSON.parse(encodeSync(decodeSync(Input))).version);

      const role = service.all('AWS::IAM::Role').find(({ id }) => id === service.target(RoleArn));
      expect(role?.properties.AssumeRolePolicyDocument.Statement).toMatchObject([
        { Action: 'sts:AssumeRole', Principal: { Service: 'scheduler.amazonaws.com' } },
      ]);
      const statements = role?.properties.Policies.flatMap(
        ({ PolicyDocument }: { PolicyDocument: { Statement: unknown[] } }) => PolicyDocument.Statement,
      );
      expect(statements).toEqual([{ Effect: 'Allow', Action: 'sqs:SendMessage', Resource: Arn }]);
    },
  );
});
