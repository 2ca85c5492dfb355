import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import queries from '../log-queries.json' with { type: 'json' };
import { accessLogGroupName, functionLogGroupName, resourceName } from '../names.ts';
import type { Settings } from '../settings.ts';

const accessLog = 'api-access';

/**
 * Figures by client come from logs, because metrics cost money per client. A query pays for what it reads, so it names
 * only the logs it needs.
 */
export class LogQueries extends Construct {
  constructor(scope: Construct, id: string, { stage }: Pick<Settings, 'stage'>) {
    super(scope, id);
    for (const [name, { logs, query }] of Object.entries(queries)) {
      new CfnQueryDefinition(this, name, {
        name: `${resourceName(stage, 'queries')}/${name}`,
        queryString: query.replaceAll(' | ', '\n| '),
        logGroupNames: logs.map((log) =>
          log === accessLog ? accessLogGroupName(stage) : functionLogGroupName(stage, log),
        ),
      });
    }
  }
}
