import { resourceName } from './names.ts';
import type { Settings } from './settings.ts';

/** CloudFront reads its certificates and web ACLs in this region only. */
export const edgeRegion = 'us-east-1';

/**
 * Names the secrets with the edge's keys. The API takes this version's key and the one before; the edge, deployed
 * first, shows the one before, which the last version's API takes too: no request is refused in between.
 */
export function edgeKeysOf({ stage, edgeKeyVersion }: Pick<Settings, 'stage' | 'edgeKeyVersion'>): {
  readonly taken: readonly string[];
  readonly shown: string;
} {
  const name = (version: number) => resourceName(stage, `edge-key-${version}`);
  const shown = name(Math.max(edgeKeyVersion - 1, 1));
  return { taken: edgeKeyVersion > 1 ? [name(edgeKeyVersion), shown] : [shown], shown };
}

/**
 * Returns the topics for the edge's alarms: the edge's own settings, else the other topics when they are in its region.
 */
export function edgeAlarmTopicsOf(
  settings: Pick<Settings, 'pageTopicArn' | 'ticketTopicArn' | 'edgePageTopicArn' | 'edgeTicketTopicArn'>,
): Pick<Settings, 'pageTopicArn' | 'ticketTopicArn'> {
  const there = (topicArn: string | undefined) => (topicArn?.split(':')[3] === edgeRegion ? topicArn : undefined);
  return {
    pageTopicArn: settings.edgePageTopicArn ?? there(settings.pageTopicArn),
    ticketTopicArn: settings.edgeTicketTopicArn ?? there(settings.ticketTopicArn),
  };
}

/** CloudFormation resolves this reference when it deploys, so no template shows the secret. */
export function textOfSecret(name: string): string {
  return `{{resolve:secretsmanager:${name}:SecretString}}`;
}

/** The edge calls the API by this name; the public name leads to the edge. */
export function originName(domainName: string): string {
  return `origin.${domainName}`;
}
