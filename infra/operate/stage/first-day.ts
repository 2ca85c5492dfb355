import * as v from 'valibot';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import { readList } from '../../../lib/platform/list-page.ts';
import type { PlatformReply, PlatformTransport } from '../../../lib/platform/transport.ts';
import type { Finding } from './findings.ts';

/**
 * Checks the facts about the platform for one WABA (lib/platform/FIRST-DAY.md). It only reads, so it changes and costs
 * nothing.
 */

/** Later reads need this from earlier ones. */
interface Known {
  readonly wabaId: string;
  numberId?: string;
  template?: { readonly id: string; readonly name: string };
}

type Answer = PlatformReply | PlatformFailure;

interface Judgement {
  readonly agrees: boolean;
  readonly says: string;
}

interface FirstDayRead {
  /** The read checks this section of FACTS.md. */
  readonly facts: string;
  readonly asks: string;
  /** Returns undefined when the WABA has nothing to read. */
  readonly call: (known: Known) => { readonly path: string; readonly query?: Record<string, string> } | undefined;
  /** The token replaces the WABA's. */
  readonly accessToken?: string;
  readonly judge: (answer: Answer, known: Known) => Judgement;
}

const agrees = (says: string): Judgement => ({ agrees: true, says });
const differs = (says: string): Judgement => ({ agrees: false, says });

const limits = ['TIER_50', 'TIER_250', 'TIER_2K', 'TIER_10K', 'TIER_100K', 'TIER_UNLIMITED', 'UNTIERED'];
const numberStatuses =
  'CONNECTED DISCONNECTED PENDING MIGRATED DELETED BANNED RESTRICTED FLAGGED RATE_LIMITED UNVERIFIED UNKNOWN'.split(
    ' ',
  );
const templateStatuses =
  'PENDING APPROVED REJECTED PAUSED DISABLED IN_APPEAL PENDING_DELETION DELETED LIMIT_EXCEEDED ARCHIVED'.split(' ');

const NumberSchema = v.looseObject({ id: v.string(), status: v.optional(v.string()) });
const TemplateSchema = v.looseObject({
  id: v.string(),
  name: v.string(),
  status: v.string(),
  source: v.optional(v.string()),
});
const templateFields =
  'id,name,language,status,category,components,source,correct_category,quality_score,parameter_format';
const templatesPath = ({ wabaId }: Known) => `${wabaId}/message_templates`;

/** At most 100 entries of each list are read. */
export const firstDayReads: readonly FirstDayRead[] = [
  {
    ...{ facts: '8', asks: 'the WABA, and whether it can pay' },
    call: ({ wabaId }) => ({
      path: wabaId,
      query: {
        fields:
          'id,name,message_template_namespace,owner_business_info,marketing_messages_onboarding_status,disable_marketing_messages_on_cloud_api,primary_funding_id',
      },
    }),
    judge: ofReply(({ body }) =>
      body['primary_funding_id'] === undefined
        ? differs('no primary_funding_id: there is nothing to pay with, and sends get 131042')
        : agrees('it can pay'),
    ),
  },
  {
    ...{ facts: '8', asks: 'its numbers' },
    call: ({ wabaId }) => ({
      path: `${wabaId}/phone_numbers`,
      query: {
        fields:
          'id,display_phone_number,status,quality_rating,throughput,whatsapp_business_manager_messaging_limit,is_on_biz_app,country_dial_code,last_onboarded_time,webhook_configuration',
        limit: '100',
      },
    }),
    judge: ofList(NumberSchema, (numbers, known) => {
      const [first] = numbers;
      if (first !== undefined) known.numberId = first.id;
      return (
        unknownAmong('status', numbers, numberStatuses) ?? agrees(`${numbers.length} numbers, their statuses known`)
      );
    }),
  },
  {
    ...{ facts: '8', asks: 'what the portfolio of a number may write to in a day' },
    call: ({ numberId }) =>
      numberId === undefined
        ? undefined
        : { path: numberId, query: { fields: 'id,whatsapp_business_manager_messaging_limit,throughput' } },
    judge: ofReply(({ body }) => {
      const limit = body['whatsapp_business_manager_messaging_limit'];
      return limits.includes(String(limit)) ? agrees(String(limit)) : differs(`its limit is ${JSON.stringify(limit)}`);
    }),
  },
  {
    ...{ facts: '8', asks: 'the health of a number' },
    call: ({ numberId }) =>
      numberId === undefined ? undefined : { path: numberId, query: { fields: 'health_status' } },
    judge: ofReply(({ body }) => {
      const health = v.safeParse(HealthSchema, body);
      if (!health.success) return differs('its form is another');
      const { can_send_message: can, entities } = health.output.health_status;
      return can === 'AVAILABLE'
        ? agrees(`AVAILABLE, told of ${entities.map(({ entity_type }) => entity_type).join(', ')}`)
        : differs(`it is ${can}`);
    }),
  },
  {
    ...{ facts: '2.3', asks: 'templates, a hundred at a time, with their source' },
    call: (known) => ({ path: templatesPath(known), query: { fields: templateFields, limit: '100' } }),
    judge: ofList(TemplateSchema, (templates, known) => {
      const [first] = templates;
      if (first !== undefined) known.template = { id: first.id, name: first.name };
      const without = templates.filter(({ source }) => source === undefined).length;
      if (without > 0) return differs(`${without} of ${templates.length} come without source`);
      return unknownAmong('status', templates, templateStatuses) ?? agrees(`${templates.length} templates`);
    }),
  },
  {
    ...{ facts: '2.1', asks: 'templates by a part of a name' },
    call: (known) => {
      const { template } = known;
      if (template === undefined) return undefined;
      const query = { name: template.name.slice(0, -1), fields: 'id,name,status', limit: '100' };
      return { path: templatesPath(known), query };
    },
    judge: ofList(TemplateSchema, (templates, { template }) =>
      templates.some(({ name }) => name === template?.name)
        ? agrees('the filter is not exact')
        : differs('the filter is exact here: the facts may say so'),
    ),
  },
  {
    ...{ facts: '2.3', asks: 'templates that the platform has generated' },
    call: (known) => ({
      path: templatesPath(known),
      query: { source: 'AUTO_GENERATED', fields: 'id,name,status,source', limit: '100' },
    }),
    judge: ofList(TemplateSchema, (templates) =>
      templates.some(({ source }) => source !== 'AUTO_GENERATED')
        ? differs('the filter lets others pass')
        : agrees(`${templates.length} of them`),
    ),
  },
  {
    ...{ facts: '2.2', asks: 'one template by its id' },
    call: ({ template }) =>
      template === undefined ? undefined : { path: template.id, query: { fields: templateFields } },
    judge: ofReply(({ body }, { template }) =>
      body['id'] === template?.id ? agrees('it is there') : differs('another id is answered'),
    ),
  },
  {
    ...{ facts: '2.2', asks: 'an id that there is not' },
    call: ({ wabaId }) => ({ path: `${wabaId}0000000` }),
    judge: (answer) => {
      if (!(answer instanceof PlatformFailure)) return differs('it is answered');
      const { httpStatus, code, subcode } = answer.facts;
      const is = `HTTP ${httpStatus}, ${code}${subcode === undefined ? '' : `/${subcode}`}`;
      const isKnown = (code === 100 && subcode === 33) || (httpStatus === 404 && code === 803);
      return isKnown ? agrees(is) : differs(is);
    },
  },
  {
    ...{ facts: '6.2', asks: 'with a token that is none' },
    call: ({ wabaId }) => ({ path: wabaId }),
    accessToken: 'not-a-token',
    judge: (answer) => {
      if (!(answer instanceof PlatformFailure)) return differs('it is answered');
      const is = `HTTP ${answer.facts.httpStatus}, ${answer.facts.code}`;
      return answer.credentialRefused ? agrees(is) : differs(is);
    },
  },
  {
    ...{ facts: '8', asks: 'the apps that are told of the WABA' },
    call: ({ wabaId }) => ({ path: `${wabaId}/subscribed_apps` }),
    judge: ofList(v.looseObject({}), (apps) => (apps.length > 0 ? agrees(`${apps.length}`) : differs('none is'))),
  },
  {
    ...{ facts: '7', asks: 'its catalogs' },
    call: ({ wabaId }) => ({ path: `${wabaId}/product_catalogs` }),
    judge: ofList(v.looseObject({ id: v.string() }), (catalogs) =>
      catalogs.length > 1 ? differs(`${catalogs.length}: more than one`) : agrees(`${catalogs.length}`),
    ),
  },
];

const HealthSchema = v.object({
  health_status: v.object({
    can_send_message: v.string(),
    entities: v.array(v.object({ entity_type: v.string(), can_send_message: v.string() })),
  }),
});

/** Makes all reads for one WABA, one after another. Throws errors that are no answer of the platform. */
export async function firstDayFindings(
  platform: PlatformTransport,
  { wabaId, accessToken }: { readonly wabaId: string; readonly accessToken: string },
): Promise<Finding[]> {
  const known: Known = { wabaId };
  const findings: Finding[] = [];
  for (const { facts, asks, call, judge, accessToken: other = accessToken } of firstDayReads) {
    const what = `FACTS ${facts}, ${asks}:`;
    const asked = call(known);
    if (asked === undefined) {
      findings.push({ state: 'skipped', text: `${what} the WABA has nothing to ask about` });
      continue;
    }
    const { agrees: isGood, says } = judge(await answered(platform, { ...asked, accessToken: other }), known);
    findings.push({ state: isGood ? 'good' : 'bad', text: `${what} ${says}` });
  }
  return findings;
}

async function answered(
  platform: PlatformTransport,
  call: Omit<Parameters<PlatformTransport>[0], 'method'>,
): Promise<Answer> {
  try {
    return await platform({ ...call, method: 'GET' });
  } catch (error) {
    if (error instanceof PlatformFailure) return error;
    throw error;
  }
}

function ofReply(judge: (reply: PlatformReply, known: Known) => Judgement): FirstDayRead['judge'] {
  return (answer, known) => (answer instanceof PlatformFailure ? differs(answer.message) : judge(answer, known));
}

/** An entry of another form is a difference. */
function ofList<Entry>(
  schema: v.GenericSchema<unknown, Entry>,
  judge: (entries: readonly Entry[], known: Known) => Judgement,
): FirstDayRead['judge'] {
  return ofReply((reply, known) => {
    const list = v.safeParse(v.array(schema), listIn(reply));
    return list.success ? judge(list.output, known) : differs('the list has another form');
  });
}

function listIn(reply: PlatformReply): readonly unknown[] | undefined {
  try {
    return readList(reply, undefined).entries;
  } catch {
    return undefined;
  }
}

function unknownAmong<Entry extends Readonly<Record<string, unknown>>>(
  key: string,
  entries: readonly Entry[],
  words: readonly string[],
): Judgement | undefined {
  const unknown = new Set(entries.map((entry) => String(entry[key])).filter((word) => !words.includes(word)));
  return unknown.size === 0 ? undefined : differs(`${key} ${[...unknown].join(', ')} is not in the facts`);
}
