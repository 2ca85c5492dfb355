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

/** Who hears the alarms of the edge: the topic of the settings in its region, else that of all others if it is there. */
export function edgeAlarmTopicOf({
  edgeAlarmTopicArn,
  alarmTopicArn,
}: Pick<Settings, 'edgeAlarmTopicArn' | 'alarmTopicArn'>): string | undefined {
  return edgeAlarmTopicArn ?? (alarmTopicArn?.split(':')[3] === edgeRegion ? alarmTopicArn : undefined);
}

/** The text of a secret, which CloudFormation puts in as it deploys: no template shows it. */
export function textOfSecret(name: string): string {
  return `{{resolve:secretsmanager:${name}:SecretString}}`;
}

/** The name that the edge asks the API under; the public one leads to the edge. */
export function originName(domainName: string): string {
  return `origin.${domainName}`;
}
