import { CfnOutput, Duration, Stack, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestCookieBehavior,
  OriginRequestHeaderBehavior,
  OriginRequestPolicy,
  OriginRequestQueryStringBehavior,
  OriginSslPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { CfnRecordSet } from 'aws-cdk-lib/aws-route53';
import type { Construct } from 'constructs';
import { addEdgeAlarms } from './constructs/edge-alarms.ts';
import { EdgeRules } from './constructs/edge-rules.ts';
import { edgeKeysOf, edgeRegion, originName, textOfSecret } from './edge.ts';
import { resourceName } from './names.ts';
import type { Settings } from './settings.ts';

/**
 * CloudFront caches these answers for ten seconds by default, even with no-store, and would give one client's answer to
 * another that asks the same path.
 */
const keptErrors = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

const cloudFrontZoneId = 'Z2FDTNDATAQYW2';

/**
 * CloudFront caches nothing and has a web ACL that limits each address. It sends the API a key and the viewer's address
 * with every request. The stack holds no state.
 */
export class EdgeStack extends Stack {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id, {
      stackName: resourceName(settings.stage, 'edge'),
      description: 'Template messaging: CloudFront and web ACL before the API',
      env: { region: edgeRegion },
      terminationProtection: settings.protected === 'true',
    });
    const { domainName, edgeCertificateArn, hostedZoneId } = settings;
    if (domainName === undefined || edgeCertificateArn === undefined) throw new Error('an edge needs its address');
    const rules = new EdgeRules(this, 'Rules', settings);
    const distribution = new Distribution(this, 'Distribution', {
      comment: resourceName(settings.stage, 'edge'),
      domainNames: [domainName],
      certificate: Certificate.fromCertificateArn(this, 'Certificate', edgeCertificateArn),
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      httpVersion: HttpVersion.HTTP2_AND_3,
      // The API has IPv4 only, and one IPv6 user has more addresses than a rule per address can count.
      enableIpv6: false,
      webAclId: rules.webAclArn,
      defaultBehavior: {
        origin: originOf(domainName, settings),
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
        allowedMethods: AllowedMethods.ALLOW_ALL,
        cachePolicy: CachePolicy.CACHING_DISABLED,
        compress: false,
        originRequestPolicy: this.addRequestPolicy(settings),
      },
      errorResponses: keptErrors.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
    });
    Validations.of(distribution).acknowledge(
      { id: 'AwsSolutions-CFR1', reason: 'Clients and recipients of messages may be anywhere.' },
      {
        id: 'AwsSolutions-CFR3',
        reason:
          'The API logs what gets through, the web ACL counts what does not; paths of redirects beside addresses of recipients are not to be kept.',
      },
    );
    addEdgeAlarms(this, settings, distribution);
    new CfnOutput(this, 'EdgeTarget', {
      value: distribution.distributionDomainName,
      description: `What ${domainName} has to lead to`,
    });
    if (hostedZoneId === undefined) return;
    new CfnRecordSet(this, 'Record', {
      name: domainName,
      type: 'A',
      hostedZoneId,
      aliasTarget: { dnsName: distribution.distributionDomainName, hostedZoneId: cloudFrontZoneId },
      // The stateful stack's record has weight 0: all traffic comes here while this record exists.
      setIdentifier: 'edge',
      weight: 1,
    });
  }

  /** The gateway and its certificate need the viewer's Host header; the API needs the viewer's address. */
  private addRequestPolicy({ stage }: Settings): OriginRequestPolicy {
    return new OriginRequestPolicy(this, 'RequestPolicy', {
      originRequestPolicyName: resourceName(stage, 'edge'),
      headerBehavior: OriginRequestHeaderBehavior.all('CloudFront-Viewer-Address'),
      queryStringBehavior: OriginRequestQueryStringBehavior.all(),
      cookieBehavior: OriginRequestCookieBehavior.all(),
    });
  }
}

function originOf(domainName: string, settings: Settings): HttpOrigin {
  return new HttpOrigin(originName(domainName), {
    protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
    originSslProtocols: [OriginSslPolicy.TLS_V1_2],
    // The gateway itself times out at 30 s, with an answer that clients know.
    readTimeout: Duration.seconds(35),
    customHeaders: { 'x-origin-key': textOfSecret(edgeKeysOf(settings).shown) },
  });
}
