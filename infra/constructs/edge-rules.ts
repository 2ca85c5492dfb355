import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { resourceName } from '../names.ts';
import type { Settings } from '../settings.ts';

/**
 * Limits the rate of each address: lower for logins, higher for the platform's webhook. AWS's rules for bodies would
 * refuse large ones and texts that look like code.
 */
export class EdgeRules extends Construct {
  readonly webAclArn: string;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const webhook = pathIs('/platform/webhook', 'EXACTLY', ['NONE']);
    const acl = new CfnWebACL(this, 'WebAcl', {
      name: resourceName(settings.stage, 'edge'),
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: visibility(settings, 'edge'),
      customResponseBodies: {
        slowed: {
          contentType: 'APPLICATION_JSON',
          content: JSON.stringify({ message: 'too many requests from this address', code: 'too_many_requests' }),
        },
      },
      rules: [
        slowed(settings, 'edge-login', {
          limit: settings.edgeLoginRatePerMinute,
          // The transformations catch every spelling that might reach login; a path that only begins like it is limited
          // too, at little harm.
          scopeDownStatement: pathIs('/login', 'STARTS_WITH', ['URL_DECODE', 'NORMALIZE_PATH', 'LOWERCASE']),
        }),
        slowed(settings, 'edge-address', {
          limit: settings.edgeRatePerMinute,
          // The platform posts for all clients from few addresses, so its limit is higher. A looser match would be a
          // way around this rule.
          scopeDownStatement: { notStatement: { statement: webhook } },
        }),
        slowed(settings, 'edge-webhook', {
          limit: settings.edgeWebhookRatePerMinute,
          scopeDownStatement: webhook,
        }),
      ].map((rule, priority) => ({ ...rule, priority })),
    });
    this.webAclArn = acl.attrArn;
  }
}

function slowed(
  settings: Settings,
  purpose: string,
  rate: { readonly limit: number; readonly scopeDownStatement: CfnWebACL.StatementProperty },
): Omit<CfnWebACL.RuleProperty, 'priority'> {
  return {
    name: purpose,
    statement: { rateBasedStatement: { ...rate, aggregateKeyType: 'IP', evaluationWindowSec: 60 } },
    action: {
      block: {
        customResponse: {
          responseCode: 429,
          customResponseBodyKey: 'slowed',
          responseHeaders: [{ name: 'Retry-After', value: '60' }],
        },
      },
    },
    visibilityConfig: visibility(settings, purpose),
  };
}

function pathIs(
  searchString: string,
  positionalConstraint: 'EXACTLY' | 'STARTS_WITH',
  transformations: readonly string[],
): CfnWebACL.StatementProperty {
  return {
    byteMatchStatement: {
      fieldToMatch: { uriPath: {} },
      searchString,
      positionalConstraint,
      textTransformations: transformations.map((type, priority) => ({ type, priority })),
    },
  };
}

/** Sampled requests would show headers, and so tokens. */
function visibility({ stage }: Settings, purpose: string): CfnWebACL.VisibilityConfigProperty {
  return {
    cloudWatchMetricsEnabled: true,
    sampledRequestsEnabled: false,
    metricName: resourceName(stage, purpose),
  };
}
