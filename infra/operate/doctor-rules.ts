import { webhookFields } from '../../lib/platform/webhook/fields.ts';
import { edgeRegion } from '../edge.ts';
import { resourceName } from '../names.ts';
import type { Finding } from './findings.ts';
import { conditionOf, type StackPurpose, type StackStanding } from './stack-standing.ts';
import type { StoredKeySets } from './token-keys.ts';

/*
 * What doctor makes of what it has read: each finding with what to do about it. Pure, so that a table of cases proves it.
 */

const good = (text: string): Finding => ({ state: 'good', text });
const bad = (text: string): Finding => ({ state: 'bad', text });

export function stackFinding(
  stage: string,
  purpose: StackPurpose,
  { status }: Pick<StackStanding, 'status'> | { readonly status?: undefined } = {},
): Finding {
  const stack = `stack ${resourceName(stage, purpose)}`;
  const deploy = `npm run deploy -- -c stage=${stage}`;
  switch (conditionOf(status)) {
    case 'absent':
      return bad(`${stack}: not there; ${deploy}`);
    case 'whole':
      return good(`${stack}: ${status}`);
    case 'taken_back': {
      const region = purpose === 'edge' ? ` --region ${edgeRegion}` : '';
      const why = `aws cloudformation describe-stack-events${region} --stack-name ${resourceName(stage, purpose)}`;
      return bad(`${stack}: ${status}, its last deployment was taken back; ${why} says why, then ${deploy}`);
    }
    case 'changing':
    case 'cleaning_up':
      return bad(`${stack}: ${status}, a deployment is under way; look again when it has ended`);
    default:
      return bad(`${stack}: ${status}; infra/RECOVERY.md says how to go on`);
  }
}

/** How far this machine's clock may be from the service's: keys are dated by this one and judged by that one. */
export const clockToleranceMs = 30_000;

/** `theirsMs` is a whole second, as HTTP tells it. */
export function clockFinding(oursMs: number, theirsMs: number): Finding {
  const apartSeconds = Math.round(Math.abs(oursMs - theirsMs) / 1_000);
  const side = oursMs > theirsMs ? 'ahead of' : 'behind';
  if (Math.abs(oursMs - theirsMs) <= clockToleranceMs) return good(`clock: ${apartSeconds} s from the service's`);
  return bad(
    `clock: this machine is ${apartSeconds} s ${side} the service; switch time synchronization (NTP) on, ` +
      'and rotate no keys before',
  );
}

export function keyFindings(
  { signing, verification }: StoredKeySets,
  { sealingKeys, hasPersonKey }: { readonly sealingKeys: number; readonly hasPersonKey: boolean },
): Finding[] {
  const remedy = 'npm run provision -- FILE creates what is missing';
  const published = new Set(verification?.keys.map(({ kid }) => kid));
  const unpublished = signing?.keys.filter(({ kid }) => !published.has(kid)) ?? [];
  const tokens =
    signing === undefined || verification === undefined
      ? bad(`token keys: there are none, nobody can log in; ${remedy}`)
      : unpublished.length > 0
        ? bad(`token keys: ${unpublished.length} can sign and are not published; ${remedy}`)
        : good(`token keys: ${signing.keys.length} to sign with, ${verification.keys.length} published`);
  const sealing =
    sealingKeys === 0
      ? bad(`sealing keys: there are none, no webhook can be registered; ${remedy}`)
      : good(`sealing keys: ${sealingKeys}`);
  const people = hasPersonKey
    ? good('key of people: there')
    : bad(`key of people: there is none, and what people want (opt-outs) is not heard; ${remedy}`);
  return [tokens, sealing, people];
}

export interface AlarmState {
  readonly name: string;
  readonly actionsEnabled: boolean;
  /** ARNs of what it tells. */
  readonly actions: readonly string[];
  /** Of a composite alarm: by the states of which others it rings. They have no action of their own. */
  readonly rule?: string | undefined;
}

export interface TopicState {
  readonly arn: string;
  readonly confirmed: number;
  readonly pending: number;
}

/** Of the alarms of the service, or of those of its edge, which have a region and a topic of their own. */
export function alarmFindings(
  stage: string,
  alarms: readonly AlarmState[],
  topics: readonly TopicState[],
  of: 'service' | 'edge' = 'service',
): Finding[] {
  const what = of === 'edge' ? 'edge alarms:' : 'alarms:';
  const deploy = `npm run deploy -- -c stage=${stage}`;
  if (alarms.length === 0) return [bad(`${what} there are none; ${deploy}`)];
  const rules = alarms.map(({ rule = '' }) => rule).join('\n');
  // A rule names an alarm in quotes, by its name or at the end of its ARN.
  const isLookedAt = (name: string) => [`"${name}"`, `:${name}"`].some((named) => rules.includes(named));
  const silent = alarms.filter(({ name, actions }) => actions.length === 0 && !isLookedAt(name));
  const off = alarms.filter(({ actionsEnabled }) => !actionsEnabled).map(({ name }) => name);
  const findings: Finding[] = [];
  if (silent.length > 0) {
    const topicsToName =
      of === 'edge' ? '-c edgePageTopicArn=ARN -c edgeTicketTopicArn=ARN' : '-c pageTopicArn=ARN -c ticketTopicArn=ARN';
    findings.push(bad(`${what} ${silent.length} of ${alarms.length} tell nobody; ${deploy} ${topicsToName}`));
  }
  if (off.length > 0) {
    const region = of === 'edge' ? ` --region ${edgeRegion}` : '';
    const on = `aws cloudwatch enable-alarm-actions${region} --alarm-names ${off.join(' ')}`;
    findings.push(bad(`${what} ${off.length} are switched off; ${on}`));
  }
  if (findings.length === 0) findings.push(good(`${what} ${alarms.length}, all switched on, each is told`));
  return [...findings, ...topics.map(topicFinding)];
}

function topicFinding({ arn, confirmed, pending }: TopicState): Finding {
  if (confirmed > 0) return good(`alarm topic ${arn}: ${confirmed} subscribed`);
  if (pending > 0) return bad(`alarm topic ${arn}: nobody has confirmed; follow the link that was mailed`);
  const subscribe = `aws sns subscribe --topic-arn ${arn} --region ${arn.split(':')[3]} --protocol email --notification-endpoint ADDRESS`;
  return bad(`alarm topic ${arn}: nobody is subscribed; ${subscribe}, then follow the link that is mailed`);
}

/** What the platform says of a WABA when it is asked with its credential. */
export interface WabaState {
  readonly wabaId: string;
  readonly credential: string;
  /** The app that provisioning lists it under. */
  readonly appId?: string | undefined;
  /** Apps that are subscribed to it; absent when the platform did not say. */
  readonly subscribed?: readonly string[];
  /** Why it did not. */
  readonly failure?: { readonly refused: boolean; readonly text: string };
}

/** What the platform says of an app when it is asked with its secret. */
export interface AppState {
  readonly appId: string;
  /** The fields that it is told; undefined where it has no address for them. */
  readonly fields?: readonly string[] | undefined;
  /** Why the platform did not say. */
  readonly failure?: WabaState['failure'];
}

export function appFindings(apps: readonly AppState[]): Finding[] {
  return apps.map(({ appId, fields, failure }) => {
    const what = `webhook fields: platform app ${appId}`;
    if (failure !== undefined) {
      return bad(`${what}: ${failure.text}; ${failure.refused ? 'provision the secret that the app has' : outOfReach}`);
    }
    if (fields === undefined)
      return bad(`${what} has no address to call; set it, and the fields, as infra/README.md says`);
    const missing = webhookFields.filter((field) => !fields.includes(field));
    if (missing.length === 0) return good(`${what} is told all ${webhookFields.length}`);
    return bad(`${what} is not told ${missing.join(', ')}; choose them in the app at the platform`);
  });
}

const outOfReach = 'look at the platform’s status page and at the way out of this network, then run this again';

/** How many WABAs in the same trouble are named. */
const namedAtMost = 5;

export function platformFindings(wabas: readonly WabaState[]): Finding[] {
  if (wabas.length === 0) return [bad('platform: no WABA is provisioned; npm run provision -- FILE')];
  const credentials = [...new Set(wabas.map(({ credential }) => credential))];
  return [...credentials.map((each) => credentialFinding(each, wabas)), ...subscriptionFindings(wabas)];
}

function credentialFinding(credential: string, all: readonly WabaState[]): Finding {
  const wabas = all.filter((waba) => waba.credential === credential);
  const what = `platform credential ${credential}`;
  const [failed] = wabas.filter(({ failure }) => failure !== undefined);
  if (failed?.failure === undefined) return good(`${what}: reads ${wabas.length} WABA${wabas.length === 1 ? '' : 's'}`);
  const { refused, text } = failed.failure;
  const remedy = refused ? 'provision a token that is valid and may manage this WABA' : outOfReach;
  return bad(`${what}: WABA ${failed.wabaId}: ${text}; ${remedy}`);
}

function subscriptionFindings(all: readonly WabaState[]): Finding[] {
  const asked = all.filter(({ subscribed }) => subscribed !== undefined);
  const without = asked.filter(({ appId }) => appId === undefined);
  const missing = asked.filter(({ appId, subscribed }) => appId !== undefined && !subscribed?.includes(appId));
  const there = asked.length - without.length - missing.length;
  const findings: Finding[] = [];
  if (there > 0) findings.push(good(`webhook subscription: ${there} WABA${there === 1 ? '' : 's'} subscribed`));
  if (missing.length > 0) {
    findings.push(
      bad(`webhook subscription: not subscribed to its app: ${named(missing)}; npm run provision -- FILE subscribes`),
    );
  }
  if (without.length > 0) {
    const text = `webhook subscription: under no platform app, their messages stay "sent": ${named(without)}`;
    findings.push({ state: 'skipped', text });
  }
  return findings;
}

function named(wabas: readonly WabaState[]): string {
  const ids = wabas.slice(0, namedAtMost).map(({ wabaId }) => wabaId);
  const more = wabas.length - ids.length;
  return `${ids.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}
