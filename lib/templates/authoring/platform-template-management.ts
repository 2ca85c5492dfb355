import * as v from 'valibot';
import type { CredentialOf } from '../../platform/credentials.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import type { PlatformReply, PlatformTransport } from '../../platform/transport.ts';
import type { WabaAccess } from '../../platform/waba-access.ts';

/** The category may differ from the requested one. */
export interface CreatedTemplate {
  readonly id: string;
  readonly status: string;
  readonly category: string;
}

/**
 * Writes templates (platform reference, 2.5 to 2.7). Every method throws `PlatformFailure` and never retries.
 * `timeLeftMs` limits each call and may throw.
 */
export interface TemplateManagement {
  create(
    waba: WabaAccess,
    template: Readonly<Record<string, unknown>>,
    timeLeftMs: () => number,
  ): Promise<CreatedTemplate>;
  edit(
    waba: WabaAccess,
    edit: { readonly id: string; readonly changes: Readonly<Record<string, unknown>> },
    timeLeftMs: () => number,
  ): Promise<void>;
  /** Deletes one language of a name. */
  remove(waba: WabaAccess, template: { readonly id: string; readonly name: string }): Promise<void>;
}

const CreatedSchema = v.object({ id: v.string(), status: v.string(), category: v.string() });

export function templateManagement(call: PlatformTransport, credentialOf: CredentialOf): TemplateManagement {
  return {
    create: async (waba, template, timeLeftMs) => {
      const { accessToken } = await credentialOf(waba.credential);
      const path = `${waba.wabaId}/message_templates`;
      const { wabaId } = waba;
      const { body } = await call({
        ...{ method: 'POST' as const, path, body: template, accessToken, wabaId, timeoutMs: timeLeftMs() },
      });
      const created = v.safeParse(CreatedSchema, body);
      if (created.success) return created.output;
      throw new PlatformFailure('ambiguous', { cause: new Error('not a created template') });
    },
    edit: async (waba, { id, changes }, timeLeftMs) => {
      const { accessToken } = await credentialOf(waba.credential);
      const { wabaId } = waba;
      succeeded(await call({ method: 'POST', path: id, body: changes, accessToken, wabaId, timeoutMs: timeLeftMs() }));
    },
    remove: async (waba, { id, name }) => {
      const { accessToken } = await credentialOf(waba.credential);
      const path = `${waba.wabaId}/message_templates`;
      succeeded(await call({ method: 'DELETE', path, query: { hsm_id: id, name }, accessToken, wabaId: waba.wabaId }));
    },
  };
}

function succeeded({ body }: PlatformReply): void {
  if (body['success'] !== true) throw new PlatformFailure('ambiguous', { cause: new Error('no success was reported') });
}
