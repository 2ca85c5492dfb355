import { resourceName } from './names.ts';
import type { Settings } from './settings.ts';

/** Where CloudFront reads its certificates and its web ACLs. */
export const edgeRegion = 'us-east-1';

/**
 * Names of the secrets with the edge's keys. The API takes the key of the version and the one before; the edge shows the
 * one before. It is deployed first: what it then shows is taken by the API of this version and of the last one, and the
 * key that it showed until then is taken for as long as a place of the edge may still show it.
 */
export function edgeKeysOf({ stage, edgeKeyVersion }: Pick<Settings, 'stage' | 'edgeKeyVersion'>): {
  readonly taken: readonly string[];
  readonly shown: string;
} {
  const name = (version: number) => resourceName(stage, `edge-key-${version}`);
  const shown = name(Math.max(edgeKeyVersion - 1, 1));
  return { taken: edgeKeyVersion > 1 ? [name(edgeKeyVersion), shown] : [shown], shown };
}

/** Who hears the alarms of the edge: the topics of the settings in its region, else those of all others that are there. */
export function edgeAlarmTopicsOf(
  settings: Pick<Settings, 'pageTopicArn' | 'ticketTopicArn' | 'edgePageTopicArn' | 'edgeTicketTopicArn'>,
): Pick<Settings, 'pageTopicArn' | 'ticketTopicArn'> {
  const there = (topicArn: string | undefined) => (topicArn?.split(':')[3] === edgeRegion ? topicArn : undefined);
  return {
    pageTopicArn: settings.edgePageTopicArn ?? there(settings.pageTopicArn),
    ticketTopicArn: settings.edgeTicketTopicArn ?? there(settings.ticketTopicArn),
  };
}

/** The text of a secret, which CloudFormation puts in as it deploys: no template shows it. */
export function textOfSecret(name: string): string {
  return `{{resolve:secretsmanager:${name}:SecretString}}`;
}

/** The name that the edge asks the API under; the public one leads to the edge. */
export function originName(domainName: string): string {
  return `origin.${domainName}`;
}
