import { CfnOutput } from 'aws-cdk-lib';
import { CfnDomainName } from 'aws-cdk-lib/aws-apigatewayv2';
import { CfnRecordSet } from 'aws-cdk-lib/aws-route53';
import { Construct } from 'constructs';
import { originName } from '../edge.ts';

export interface PublicDomainProps {
  readonly domainName: string;
  readonly certificateArn: string;
  /** The owner of the name creates the record from the output when there is no zone. */
  readonly hostedZoneId: string | undefined;
}

/** This is state: a new domain has another target, and resolvers cache names. The API's stack maps it to an API. */
export class PublicDomain extends Construct {
  constructor(scope: Construct, id: string, { domainName, certificateArn, hostedZoneId }: PublicDomainProps) {
    super(scope, id);
    const domain = new CfnDomainName(this, 'Name', {
      domainName,
      domainNameConfigurations: [{ certificateArn, endpointType: 'REGIONAL', securityPolicy: 'TLS_1_2' }],
    });
    const target = domain.attrRegionalDomainName;
    new CfnOutput(this, 'Target', { value: target, description: `What ${domainName} has to lead to` });
    if (hostedZoneId === undefined) return;
    const aliasTarget = { dnsName: target, hostedZoneId: domain.attrRegionalHostedZoneId };
    new CfnRecordSet(this, 'Origin', { name: originName(domainName), type: 'A', hostedZoneId, aliasTarget });
    new CfnRecordSet(this, 'Record', {
      name: domainName,
      type: 'A',
      hostedZoneId,
      aliasTarget,
      // Alone, weight 0 gets all traffic, beside another weight none. So another target can take over and give back
      // without a gap.
      setIdentifier: 'api',
      weight: 0,
    });
  }
}
