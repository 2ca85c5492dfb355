import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { ApiThrottleAlarm } from './constructs/api-throttle-alarm.ts';
import { BacklogSweep } from './constructs/backlog-sweep.ts';
import { Canaries } from './constructs/canaries.ts';
import { addConcurrencyAlarms } from './constructs/concurrency-alarms.ts';
import { LogQueries } from './constructs/log-queries.ts';
import { addObjectives } from './constructs/objectives.ts';
import { OperatorRoles } from './constructs/operator-roles.ts';
import { RateRefresh } from './constructs/rate-refresh.ts';
import { addOutageAlarm, addServiceAlarms } from './constructs/service-alarms.ts';
import { ServiceApi } from './constructs/service-api.ts';
import { ServiceDashboard } from './constructs/service-dashboard.ts';
import { ServiceFunction } from './constructs/service-function.ts';
import { addStateAlarms } from './constructs/state-alarms.ts';
import { SyncSchedule } from './constructs/sync-schedule.ts';
import { addWorkerAlarms } from './constructs/worker-alarms.ts';
import { type FunctionShape, settingVariables, type TableVerb, workersOf } from './function-shapes/shape.ts';
import { functions } from './functions.ts';
import { metricService } from './metrics.ts';
import { resourceName } from './names.ts';
import { routes } from './routes.ts';
import type { Settings } from './settings.ts';
import type { StatefulStack } from './stateful-stack.ts';
import { type TableName, tables } from './tables.ts';

const operations = new Set(routes.map((route) => route.operation));

export interface StatelessStackProps {
  readonly settings: Settings;
  readonly state: StatefulStack;
  readonly bundlesDirectory: string;
}

/** This stack can be deleted and created again at any time. */
export class StatelessStack extends Stack {
  constructor(scope: Construct, id: string, props: StatelessStackProps) {
    super(scope, id, {
      stackName: resourceName(props.settings.stage, 'stateless'),
      description: 'Template messaging: API, functions and alarms',
      terminationProtection: props.settings.protected === 'true',
    });
    // Functions refer to their log groups by name only, so this order is stated.
    this.addStackDependency(props.state);
    // The outage alarm comes first, because other alarms refer to it.
    addOutageAlarm(this, props.settings);
    const built = new Map(
      functionsToDeploy(props).map(([name, shape]) => [name, this.addFunction(name, shape, props)]),
    );
    const lambdas = new Map([...built].map(([name, { lambda }]) => [name, lambda]));
    const functionOf = (name: string) => {
      const found = built.get(name);
      if (found === undefined) throw new Error(`there is no function ${name}`);
      return found;
    };
    const lambdaOf = (name: string) => functionOf(name).lambda;
    const api = new ServiceApi(this, 'Api', {
      settings: props.settings,
      routes: routes.filter((route) => built.has(route.operation)),
      authorizer: functionOf('authorizer').called,
      handlerOf: (operation) => functionOf(operation).called,
    });
    const { settings, state } = props;
    addServiceAlarms(this, settings);
    addObjectives(this, settings, api);
    addConcurrencyAlarms(this, settings, lambdaOf('authorizer'));
    addStateAlarms(this, settings);
    new ApiThrottleAlarm(this, 'ApiThrottleAlarm', settings);
    new Canaries(this, 'Canaries', {
      settings,
      tried: [...built].flatMap(([name, { alias }]) => (alias === undefined ? [] : [{ name, alias }])),
    });
    new ServiceDashboard(this, 'Dashboard', { settings, state, api, functions: lambdas });
    new LogQueries(this, 'Queries', settings);
    if (settings.syncSchedule !== undefined) {
      const { queue } = state.queues.sync;
      new SyncSchedule(this, 'SyncSchedule', { settings, expression: settings.syncSchedule, queue });
    }
    new BacklogSweep(this, 'BacklogSweep', { settings, sweep: lambdaOf('messages-sweep') });
    if (settings.rateSourceUrl !== undefined) {
      new RateRefresh(this, 'RateRefresh', { settings, refresh: lambdaOf('pricing-refresh') });
    }
    new OperatorRoles(this, 'Operators', settings);
    new CfnOutput(this, 'ApiUrl', { value: api.url, description: 'Base address of the interface' });
  }

  private addFunction(name: string, shape: FunctionShape, props: StatelessStackProps): ServiceFunction {
    const { settings, state } = props;
    const added = new ServiceFunction(this, `Function-${name}`, {
      settings,
      name,
      shape,
      bundleDirectory: join(props.bundlesDirectory, name),
      environment: {
        POWERTOOLS_SERVICE_NAME: metricService(settings),
        ...(settings.edge && operations.has(name) ? { BEHIND_EDGE: 'true' } : {}),
        ...Object.fromEntries(
          (shape.settings ?? []).flatMap((variable) => {
            const value = settings[settingVariables[variable]];
            return value === undefined ? [] : [[variable, String(value)]];
          }),
        ),
      },
    });
    for (const [table, verbs] of Object.entries(shape.tables ?? {}) as [TableName, readonly TableVerb[]][]) {
      added.useTable(state.tables[table], tables[table].variable, verbs);
    }
    for (const variable of shape.secrets ?? []) {
      added.readSecret(state.secrets[variable], variable);
      if (variable === 'PLATFORM_CREDENTIALS_SECRET') added.readSecretGroups(state.secrets[variable]);
    }
    for (const queue of shape.sendsTo ?? []) added.sendTo(state.queues[queue]);
    if (shape.consumes !== undefined) {
      added.consume(state.queues[shape.consumes.queue], {
        ...shape.consumes,
        maximumConcurrency: workersOf(shape.consumes, settings),
      });
      addWorkerAlarms(this, settings, { name, shape, lambda: added.lambda });
    }
    return added;
  }
}

/**
 * A route without a function is skipped; a missing worker or authorizer and a bundle without a shape throw one
 * sentence.
 */
function functionsToDeploy({ bundlesDirectory, settings }: StatelessStackProps): [string, FunctionShape][] {
  const built = existsSync(bundlesDirectory) ? readdirSync(bundlesDirectory).sort() : [];
  const missing = Object.keys(functions).filter((name) => !built.includes(name) && !operations.has(name));
  if (missing.length > 0) {
    throw new Error(`${bundlesDirectory} holds no bundle of ${missing.join(', ')}: run npm run build first`);
  }
  return built.flatMap((name): [string, FunctionShape][] => {
    const shape = functions[name];
    if (shape === undefined) throw new Error(`the function ${name} has no entry in infra/functions.ts`);
    const { onlyWith } = shape;
    return onlyWith === undefined || settings[onlyWith] !== undefined ? [[name, shape]] : [];
  });
}
