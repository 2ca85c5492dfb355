import { webhookFields } from '../../../lib/platform/webhook/fields.ts';
import { edgeRegion } from '../../edge.ts';
import { resourceName } from '../../names.ts';
import type { StoredKeySets } from '../token-keys.ts';
import type { Finding } from './findings.ts';
import { conditionOf, type StackPurpose, type StackStatus } from './stack-status.ts';

/** This file is pure, so that a table of cases tests it: each finding says what to do. */

const good = (text: string): Finding => ({ state: 'good', text });
const bad = (text: string): Finding => ({ state: 'bad', text });

export function stackFinding(
  stage: string,
  purpose: StackPurpose,
  { status }: Pick<StackStatus, 'status'> | { readonly status?: undefined } = {},
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

/** This machine's clock dates keys, and the service's clock judges them. */
export const clockToleranceMs = 30_000;

/** `theirsMs` has whole seconds, as HTTP does. */
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
  const remedy = 'infra/ops provision FILE creates what is missing';
  const published = new Set(verification?.keys.map(({ kid }) => kid));
  const unpublished = signing?.keys.filter(({ kid }) => !published.has(kid)) ?? [];
  const tokens =
    signing === undefined || verification === undefined
      ? bad(`token keys: there are none, no user can log in; ${remedy}`)
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
  readonly actions: readonly string[];
  /** The alarms in a composite alarm's rule need no actions. */
  readonly rule?: string | undefined;
}

export interface TopicState {
  readonly arn: string;
  readonly confirmed: number;
  readonly pending: number;
}

/** Judges the alarms of the service, or of its edge, which has its own region and topics. */
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
  // A rule quotes an alarm by name, or by an ARN that ends with it.
  const isLookedAt = (name: string) => [`"${name}"`, `:${name}"`].some((named) => rules.includes(named));
  const silent = alarms.filter(({ name, actions }) => actions.length === 0 && !isLookedAt(name));
  const off = alarms.filter(({ actionsEnabled }) => !actionsEnabled).map(({ name }) => name);
  const findings: Finding[] = [];
  if (silent.length > 0) {
    const topicsToName =
      of === 'edge' ? '-c edgePageTopicArn=ARN -c edgeTicketTopicArn=ARN' : '-c pageTopicArn=ARN -c ticketTopicArn=ARN';
    findings.push(bad(`${what} ${silent.length} of ${alarms.length} have no topic to tell; ${deploy} ${topicsToName}`));
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
  if (pending > 0) return bad(`alarm topic ${arn}: no address has confirmed; follow the link that was mailed`);
  const subscribe = `aws sns subscribe --topic-arn ${arn} --region ${arn.split(':')[3]} --protocol email --notification-endpoint ADDRESS`;
  return bad(`alarm topic ${arn}: no address is subscribed; ${subscribe}, then follow the link that is mailed`);
}

export interface WabaState {
  readonly wabaId: string;
  readonly credential: string;
  /** Provisioning gave the WABA this app. */
  readonly appId?: string | undefined;
  /** These apps are subscribed to the WABA; absent when the platform did not answer. */
  readonly subscribed?: readonly string[];
  readonly failure?: { readonly refused: boolean; readonly text: string };
}

export interface AppState {
  readonly appId: string;
  /** The app has no webhook address when this is undefined. */
  readonly fields?: readonly string[] | undefined;
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

/** A finding names at most this many WABAs with the same fault. */
const namedAtMost = 5;

export function platformFindings(wabas: readonly WabaState[]): Finding[] {
  if (wabas.length === 0) return [bad('platform: no WABA is provisioned; infra/ops provision FILE')];
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
      bad(`webhook subscription: not subscribed to its app: ${named(missing)}; infra/ops provision FILE subscribes`),
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
