import type { Waba } from '../../access/directory.ts';
import { Refusal } from '../../http/refusal.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import { changingAtPlatform } from '../../platform/refusals.ts';
import { announce } from '../../webhooks/announce.ts';
import type { EventSink } from '../../webhooks/event.ts';
import type { TemplateManagement } from '../authoring/platform-template-management.ts';
import { goneUpstream } from '../model/fact.ts';
import { findTemplate } from '../model/find-template.ts';
import type { PlatformTemplates } from '../model/platform-templates.ts';
import type { PlatformTemplate } from '../model/template.ts';
import { deletedEvents } from '../model/template-event.ts';
import type { TemplateStore } from '../model/template-store.ts';

/** The platform keeps the name of a deleted approved template that long (contract, Limits). */
const nameHeldMs = 30 * 24 * 3_600_000;

export interface DeletionPorts {
  readonly templates: Pick<TemplateStore, 'stateOf' | 'writeUpstream'>;
  readonly management: Pick<TemplateManagement, 'remove'>;
  readonly platformTemplates: Pick<PlatformTemplates, 'find'>;
  readonly events: EventSink;
  readonly nowMs: () => number;
}

/**
 * Deletes a template upstream, tells every client of the WABA (D34) and marks their documents deleted (D21). What the
 * platform says of it now decides whether it is DISABLED and whether its name is held. Refuses with 404, with 409 when
 * DISABLED, and as the platform does. Two DynamoDB requests.
 */
export async function deleteTemplate(ports: DeletionPorts, waba: Waba, messageTemplateId: string): Promise<void> {
  const { templateKey, fact, clientIds, rows } = await findTemplate(ports.templates, waba, messageTemplateId);
  const stored = fact.template;
  const readAtMs = ports.nowMs();
  const there = await upstreamNow(ports, waba, stored);
  const status = there?.id === stored.id ? there.status : stored.status;
  if (status === 'DISABLED') throw new Refusal('template_disabled', 'a DISABLED template cannot be deleted');

  await changingAtPlatform(() => removeUpstream(ports, waba, { stored, there }));

  const deletedAtMs = ports.nowMs();
  // Before the write, which may fail: the template is gone whether or not that is stored.
  await announce(ports.events, deletedEvents({ ...stored, wabaId: waba.wabaId }, rows, deletedAtMs));
  if (there !== undefined && there.id !== stored.id && !goneUpstream(there)) {
    // It was deleted and made anew elsewhere: what was asked for is gone, and the new one is not to be hidden. What was read
    // before the deletion gives way to whoever has read since.
    const { wabaId } = waba;
    await ports.templates.writeUpstream([
      { kind: 'present', wabaId, clientIds: waba.clientIds, template: there, readAtMs },
    ]);
    return;
  }
  const { name } = stored;
  const held =
    status === 'APPROVED' ? { nameHeld: { untilMs: deletedAtMs + nameHeldMs, wabaId: waba.wabaId, name } } : {};
  await ports.templates.writeUpstream([{ kind: 'gone', templateKey, clientIds, readAtMs: deletedAtMs, ...held }]);
}

/** What stands under the name upstream; the stored template when the platform does not tell. */
async function upstreamNow(
  { platformTemplates }: DeletionPorts,
  waba: Waba,
  stored: PlatformTemplate,
): Promise<PlatformTemplate | undefined> {
  try {
    return await platformTemplates.find(waba, stored);
  } catch (error) {
    if (error instanceof PlatformFailure) return stored;
    throw error;
  }
}

interface Removal {
  readonly stored: PlatformTemplate;
  readonly there: PlatformTemplate | undefined;
}

/**
 * What the platform no longer has cannot be deleted again: a refusal counts only while the template is still there. So a
 * deletion whose answer was lost, or that was made elsewhere, can be repeated. A list that lags does not keep from trying.
 */
async function removeUpstream(ports: DeletionPorts, waba: Waba, { stored, there }: Removal): Promise<void> {
  try {
    await ports.management.remove(waba, stored);
  } catch (error) {
    const refused = error instanceof PlatformFailure && error.kind === 'refused' && !error.throttled;
    if (!refused || error.credentialRefused) throw error;
    if (there !== undefined && there.id === stored.id && !goneUpstream(there)) throw error;
  }
}
