import * as v from 'valibot';
import { ReplyTooLarge } from '../../aws/whole-reply.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import { log } from '../../observe/log.ts';
import type { CredentialOf } from '../../platform/credentials.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import { readList, withoutNulls } from '../../platform/list-page.ts';
import type { PlatformReply, PlatformTransport } from '../../platform/transport.ts';
import type { WabaAccess } from '../../platform/waba-access.ts';
import { goneUpstream } from './stored-fact.ts';
import { isDirectMessage, languageKey, type PlatformTemplate, PlatformTemplateSchema } from './template.ts';

export interface UnreadableTemplate {
  readonly id?: string;
  readonly name?: string;
  readonly language?: string;
}

export interface TemplatePage {
  readonly templates: readonly PlatformTemplate[];
  /** These templates exist but could not be parsed; they have names as far as known. They do not count as gone. */
  readonly unreadable: readonly UnreadableTemplate[];
  /** The last page has none. */
  readonly after?: string;
}

/** `missing` also covers a template that the platform hides from this credential. */
export type IdReading =
  | { readonly kind: 'found'; readonly template: PlatformTemplate }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable' };

/** Every method throws `PlatformFailure` (platform reference, 2.1). */
export interface PlatformTemplates {
  /** Asks with the smallest request whether the platform answers for this WABA. */
  probe(waba: WabaAccess): Promise<void>;
  /** Reads one page of all templates; the first has no cursor. */
  page(waba: WabaAccess, after?: string): Promise<TemplatePage>;
  /**
   * Returns the template of this id, of any WABA that the credential may see, in one call: the answer does not name it
   * (2.2).
   */
  read(waba: WabaAccess, templateId: string): Promise<IdReading>;
  /** Returns the template of exactly this name and language in any spelling (D26), or undefined. */
  find(waba: WabaAccess, wanted: NameAndLanguage): Promise<PlatformTemplate | undefined>;
  /** Returns `find`, with the same name's templates in other languages; complete when nothing was found. */
  lookUp(waba: WabaAccess, wanted: NameAndLanguage): Promise<LookUp>;
}

export interface NameAndLanguage {
  readonly name: string;
  readonly language: string;
}

export interface LookUp {
  readonly found?: PlatformTemplate;
  readonly sameName: readonly PlatformTemplate[];
  /** The platform's filter returned names that contain the asked one, if nothing has exactly that name. */
  readonly longerNames?: readonly string[];
}

const pageSizes = [100, 10, 1] as const;

/** Without this list the platform leaves most documented fields out (2.3). */
const fields = [
  'id',
  'name',
  'language',
  'status',
  'category',
  'sub_category',
  'previous_category',
  'correct_category',
  'components',
  'quality_score',
  'rejected_reason',
  'parameter_format',
  'message_send_ttl_seconds',
  'cta_url_link_tracking_opted_out',
  'library_template_name',
  'optimization_spec',
  'source',
].join(',');

export function platformTemplates(call: PlatformTransport, credentialOf: CredentialOf): PlatformTemplates {
  const list = async (waba: WabaAccess, query: Readonly<Record<string, string>>) => {
    const { accessToken } = await credentialOf(waba.credential);
    return call({ method: 'GET', path: `${waba.wabaId}/message_templates`, query, accessToken, wabaId: waba.wabaId });
  };
  const readableList = async (waba: WabaAccess, query: Readonly<Record<string, string>>) => {
    for (const pageSize of pageSizes) {
      try {
        return await list(waba, { fields, limit: String(pageSize), ...query });
      } catch (error) {
        if (!isTooLarge(error)) throw error;
      }
    }
    // A single template is too large: reading only its name shows that it exists, and the list goes on.
    return list(waba, { fields: 'id,name,language', limit: '1', ...query });
  };
  const page = async (waba: WabaAccess, query: Readonly<Record<string, string>>) => {
    const read = readPage(await readableList(waba, query), query['after']);
    if (read.unreadable.length > 0) {
      log('platform.template_unreadable', { wabaId: waba.wabaId, count: read.unreadable.length });
    }
    return read;
  };
  return {
    probe: async (waba) => {
      await list(waba, { fields: 'id', limit: '1' });
    },
    page: (waba, after) => page(waba, omitUndefined({ after })),
    read: async ({ wabaId, credential }, templateId) => {
      const { accessToken } = await credentialOf(credential);
      try {
        const { body } = await call({
          method: 'GET',
          path: encodeURIComponent(templateId),
          query: { fields },
          accessToken,
          wabaId,
        });
        const read = v.safeParse(PlatformTemplateSchema, withoutNulls(body));
        return read.success ? { kind: 'found', template: read.output } : { kind: 'unreadable' };
      } catch (error) {
        if (isTooLarge(error)) return { kind: 'unreadable' };
        if (isMissing(error)) return { kind: 'missing' };
        throw error;
      }
    },
    find: async (waba, wanted) => (await lookUp(waba, wanted)).found,
    lookUp,
  };

  async function lookUp(waba: WabaAccess, { name, language }: NameAndLanguage): Promise<LookUp> {
    const sameName: PlatformTemplate[] = [];
    const longerNames: string[] = [];
    // The platform's name filter also finds longer names, so the exact one may be on a later page.
    let after: string | undefined;
    do {
      const read: TemplatePage = await page(waba, { name, ...omitUndefined({ after }) });
      const named = read.templates.filter((template) => template.name === name);
      const found = named.find((template) => languageKey(template.language) === languageKey(language));
      sameName.push(...named.filter((template) => template !== found));
      longerNames.push(
        ...read.templates.flatMap((template) =>
          template.name === name || goneUpstream(template) || isDirectMessage(template) ? [] : template.name,
        ),
      );
      if (found !== undefined) return { found, sameName };
      // An unreadable template may be this one, so it does not count as gone.
      if (read.unreadable.some((entry) => mayBe(entry, { name, language }))) throw new PlatformFailure('ambiguous');
      after = read.after;
    } while (after !== undefined);
    return { sameName, ...(sameName.length === 0 && longerNames.length > 0 ? { longerNames } : {}) };
  }
}

/**
 * Tells whether the error is subcode 33 of code 100, or 404 (platform reference, 2.2). Other permanent refusals say
 * nothing about the template.
 */
function isMissing(error: unknown): boolean {
  return error instanceof PlatformFailure && error.kind === 'refused' && !error.throttled && error.advice === 'no';
}

function isTooLarge(error: unknown): boolean {
  return error instanceof PlatformFailure && error.facts.cause instanceof ReplyTooLarge;
}

function mayBe(entry: UnreadableTemplate, wanted: NameAndLanguage): boolean {
  const sameName = entry.name === undefined || entry.name === wanted.name;
  return sameName && (entry.language === undefined || languageKey(entry.language) === languageKey(wanted.language));
}

function readPage(reply: PlatformReply, askedAfter: string | undefined): TemplatePage {
  const { entries, after } = readList(reply, askedAfter);
  const templates: PlatformTemplate[] = [];
  const unreadable: UnreadableTemplate[] = [];
  for (const entry of entries) {
    const template = v.safeParse(PlatformTemplateSchema, entry);
    if (template.success) templates.push(template.output);
    else unreadable.push(asFarAsNamed(entry));
  }
  return { templates, unreadable, after };
}

const text = v.fallback(v.optional(v.string()), undefined);
const NameSchema = v.object({ id: text, name: text, language: text });

function asFarAsNamed(entry: unknown): UnreadableTemplate {
  const named = v.safeParse(NameSchema, entry);
  return named.success ? named.output : {};
}
