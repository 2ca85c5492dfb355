import type { Settings } from './settings.ts';

/**
 * Refuses, in one sentence, an incomplete public address: a certificate, zone or edge without what it needs, a name
 * without its certificate, or a certificate of another region, which API Gateway would refuse in the middle of a
 * deployment.
 */
export function checkPublicAddress(settings: Settings, region: string | undefined): void {
  const { domainName, certificateArn, hostedZoneId, edge, edgeCertificateArn } = settings;
  if (edge) {
    needs('edge', edge, 'domainName', domainName);
    needs('edge', edge, 'edgeCertificateArn', edgeCertificateArn);
  }
  needs('certificateArn', certificateArn, 'domainName', domainName);
  needs('hostedZoneId', hostedZoneId, 'domainName', domainName);
  needs('domainName', domainName, 'certificateArn', certificateArn);
  const certificateRegion = certificateArn?.split(':')[3];
  if (certificateRegion === undefined || region === undefined || certificateRegion === region) return;
  throw new Error(
    `the context value certificateArn names a certificate in ${certificateRegion}, and the stacks go to ${region}: API Gateway takes those of its own region only`,
  );
}

function needs(name: string, value: unknown, other: string, otherValue: unknown): void {
  if (value === undefined || otherValue !== undefined) return;
  throw new Error(`the context value ${name} needs ${other} beside it`);
}
