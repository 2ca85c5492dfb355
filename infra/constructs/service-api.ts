import { Duration, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  CfnApiMapping,
  type CfnStage,
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  type HttpRoute,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaAuthorizer, HttpLambdaResponseType } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { edgeKeysOf, textOfSecret } from '../edge.ts';
import { ownShare, serviceMetric } from '../metrics.ts';
import { accessLogGroupName, resourceName } from '../names.ts';
import { type RouteEntry, throttleOf } from '../routes.ts';
import type { Settings } from '../settings.ts';
import { addAlarm } from './alarm.ts';
import { corsFor } from './cors.ts';

/** Headers and query strings are never logged: a query may contain a phone number, a header contains the token. */
const accessLogFields = {
  requestId: '$context.requestId',
  routeKey: '$context.routeKey',
  status: '$context.status',
  responseLatency: '$context.responseLatency',
  integrationStatus: '$context.integrationStatus',
  integrationErrorMessage: '$context.integrationErrorMessage',
  authorizerError: '$context.authorizer.error',
  // The client is the caller's by the token, not the one that the request is for.
  clientId: '$context.authorizer.clientId',
  // Password guessing is traced by it. Behind an edge it is the edge's address; it is deleted with the log's retention.
  sourceIp: '$context.identity.sourceIp',
};

const stageName = '$default';

export interface ServiceApiProps {
  readonly settings: Settings;
  readonly routes: readonly RouteEntry[];
  readonly authorizer: IFunction;
  readonly handlerOf: (operation: string) => IFunction;
}

/**
 * Creates each route with its function (payload format 2.0), an authorizer on non-public ones, and CORS for the
 * deployment's origins (D52). A domain of its own is the only address: the execute-api address would bypass its
 * protection.
 */
export class ServiceApi extends Construct {
  readonly url: string;
  readonly routes: readonly RouteEntry[];
  private readonly api: HttpApi;

  constructor(scope: Construct, id: string, props: ServiceApiProps) {
    super(scope, id);
    const { settings } = props;
    const { domainName, corsOrigins } = settings;
    const api = new HttpApi(this, 'Api', {
      apiName: resourceName(settings.stage, 'api'),
      createDefaultStage: false,
      disableExecuteApiEndpoint: domainName === undefined ? undefined : true,
      corsPreflight: corsOrigins && corsFor(corsOrigins),
    });
    const authorizer = new HttpLambdaAuthorizer('Authorizer', props.authorizer, {
      // One cached answer serves all routes for a token; a policy for one route's ARN would refuse the next route.
      responseTypes: [HttpLambdaResponseType.SIMPLE],
      identitySource: ['$request.header.Authorization'],
      resultsCacheTtl: Duration.seconds(60),
    });
    const stage = this.addStage(api, settings);
    for (const route of props.routes) {
      const integration = new HttpLambdaIntegration(route.operation, props.handlerOf(route.operation));
      const [added] = api.addRoutes({
        path: route.path,
        methods: [HttpMethod[route.method]],
        integration,
        authorizer: route.public ? new HttpNoneAuthorizer() : authorizer,
      });
      if (added === undefined) throw new Error(`the route ${route.method} ${route.path} was not added`);
      if (route.public) acknowledgePublic(added);
      const throttle = throttleOf(route, settings);
      if (throttle !== undefined) throttleRoute(stage, added, route, throttle);
    }
    if (domainName === undefined) {
      this.url = api.apiEndpoint;
    } else {
      // The mapping uses the name, because the domain belongs to the stateful stack, which is deployed first.
      const mapping = new CfnApiMapping(this, 'Mapping', { apiId: api.apiId, domainName, stage: stageName });
      mapping.node.addDependency(stage);
      this.url = `https://${domainName}`;
    }
    this.api = api;
    this.routes = props.routes;
    this.addAlarms(settings);
  }

  /** Returns a metric of one route; it needs the stage's detailed metrics. */
  routeMetric({ method, path }: RouteEntry, metricName: string, statistic: string, minutes = 5): Metric {
    return new Metric({
      namespace: 'AWS/ApiGateway',
      metricName,
      dimensionsMap: { ApiId: this.api.apiId, Stage: stageName, Method: method, Resource: path },
      statistic,
      period: Duration.minutes(minutes),
      label: statistic === 'Sum' ? metricName : statistic,
    });
  }

  private addAlarms(settings: Settings): void {
    const { api } = this;
    const over = { period: Duration.minutes(5), statistic: 'Sum' };
    addAlarm(this, settings, {
      ...{ purpose: 'api-5xx', severity: 'ticket', section: 'requests', followsOutage: true },
      metric: api.metricServerError(over),
      above: 5,
      whoIsHurt: 'Callers of the API: more than 5 requests in 5 minutes ended with a status of 500 or above.',
      whatToDo:
        'Find the routes in the access log (status, integrationErrorMessage, authorizerError), then the request ids in the log of their function; the platform’s own failures are among them (RequestsFailedByPlatform on the dashboard).',
    });
    addAlarm(this, settings, {
      ...{ purpose: 'api-5xx-share', severity: 'page', section: 'requests' },
      metric: ownShare(
        {
          part: api.metricServerError(over),
          excused: serviceMetric(settings, 'RequestsFailedByPlatform'),
          all: api.metricCount(over),
        },
        100,
      ),
      above: 5,
      periods: 2,
      whoIsHurt: 'Callers of the API: more than one request in twenty fails for 10 minutes, and not for the platform.',
      whatToDo:
        'It is an outage, not a single fault. Right after a deployment: roll it back. Else look at the dashboard for the part that fails: tables, functions, authorizer.',
    });
    addAlarm(this, settings, {
      ...{ purpose: 'api-latency', severity: 'ticket', section: 'requests' },
      metric: api.metricLatency({ period: Duration.minutes(5), statistic: 'p99' }),
      above: Duration.seconds(15).toMilliseconds(),
      periods: 3,
      whoIsHurt: 'Callers who wait: one request in a hundred takes more than 15 seconds; at 29 the gateway gives up.',
      whatToDo:
        'Find the route on the dashboard. Those that call the platform are as slow as it is; for the others look for throttled tables and for functions short of concurrency.',
    });
  }

  private addStage(api: HttpApi, settings: Settings): HttpStage {
    const accessLog = LogGroup.fromLogGroupName(this, 'AccessLog', accessLogGroupName(settings.stage));
    const stage = new HttpStage(this, 'Stage', {
      httpApi: api,
      stageName,
      autoDeploy: true,
      throttle: { rateLimit: settings.stageRatePerSecond, burstLimit: settings.stageBurst },
      detailedMetricsEnabled: true,
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLog),
        format: AccessLogFormat.custom(JSON.stringify(accessLogFields)),
      },
    });
    if (settings.edge) {
      // A template has at most 60 such references, so the stage has them once.
      const edgeKeys = edgeKeysOf(settings).taken.map(textOfSecret).join(',');
      (stage.node.defaultChild as CfnStage).stageVariables = { edgeKeys };
    }
    return stage;
  }
}

function acknowledgePublic(route: HttpRoute): void {
  Validations.of(route).acknowledge({
    id: 'AwsSolutions-APIG4',
    reason:
      'These are reached without a token: POST /login issues it, GET /health tells nothing, GET /r/{code} is for the recipients of messages, and what the platform posts to /platform/webhook is signed.',
  });
}

/** A route's settings replace the stage's. */
function throttleRoute(
  stage: HttpStage,
  added: HttpRoute,
  { method, path }: RouteEntry,
  { ratePerSecond, burst }: NonNullable<RouteEntry['throttle']>,
): void {
  const cfnStage = stage.node.defaultChild as CfnStage;
  cfnStage.routeSettings = {
    ...cfnStage.routeSettings,
    [`${method} ${path}`]: {
      DetailedMetricsEnabled: true,
      ThrottlingRateLimit: ratePerSecond,
      ThrottlingBurstLimit: burst,
    },
  };
  // CloudFormation fails when a route's settings are applied before the route exists.
  cfnStage.node.addDependency(added);
}
