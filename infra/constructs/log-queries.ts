import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import queries from '../log-queries.json' with { type: 'json' };
import { accessLogGroupName, functionLogGroupName, resourceName } from '../names.ts';
import type { Settings } from '../settings.ts';

/** The name of the gateway's log among those of functions. */
const accessLog = 'api-access';

/**
 * The questions of the run book, saved in Logs Insights under the stage's name: figures by client are asked of logs, for a metric
 * with a client as its dimension is paid for by client. Saving them is free; a query costs by what it reads, so it reads the logs
 * of those functions alone that write its lines.
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
