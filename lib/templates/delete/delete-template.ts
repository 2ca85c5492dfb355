import type { Waba } from '../../access/directory.ts';
import { Refusal } from '../../http/refusal.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import { changingAtPlatform } from '../../platform/refusals.ts';
import type { EventSink } from '../../webhooks/event.ts';
import { sendBestEffort } from '../../webhooks/send-best-effort.ts';
import type { TemplateManagement } from '../authoring/platform-template-management.ts';
import { findTemplate, refuseDirectMessage } from '../model/find-template.ts';
import type { PlatformTemplates } from '../model/platform-templates.ts';
import { goneUpstream } from '../model/stored-fact.ts';
import type { PlatformTemplate } from '../model/template.ts';
import { deletedEvents } from '../model/template-event.ts';
import type { TemplateStore } from '../model/template-store.ts';

/** The platform holds the name of a deleted approved template for this long (contract, Limits). */
const nameHeldMs = 30 * 24 * 3_600_000;

export interface DeletionPorts {
  readonly templates: Pick<TemplateStore, 'stateOf' | 'writeUpstream'>;
  readonly management: Pick<TemplateManagement, 'remove'>;
  readonly platformTemplates: Pick<PlatformTemplates, 'find'>;
  readonly events: EventSink;
  readonly nowMs: () => number;
}

/**
 * Deletes a template upstream, tells every client of the WABA (D34) and writes tombstones (D21). Refuses with 404, with
 * 409 when DISABLED now or generated (D22), and as the platform. Makes two DynamoDB requests.
 */
export async function deleteTemplate(ports: DeletionPorts, waba: Waba, messageTemplateId: string): Promise<void> {
  const { templateKey, fact, clientIds, rows } = await findTemplate(ports.templates, waba, messageTemplateId);
  const stored = fact.template;
  refuseDirectMessage(stored, 'deleted');
  const readAtMs = ports.nowMs();
  const there = await upstreamNow(ports, waba, stored);
  const current = there?.id === stored.id ? there : stored;
  refuseDirectMessage(current, 'deleted');
  const { status } = current;
  if (status === 'DISABLED') throw new Refusal('template_disabled', 'a DISABLED template cannot be deleted');

  await changingAtPlatform(() => removeUpstream(ports, waba, { stored, there }));

  const deletedAtMs = ports.nowMs();
  // Clients are told before the write, which may fail: the template is gone in any case.
  await sendBestEffort(ports.events, deletedEvents({ ...stored, wabaId: waba.wabaId }, rows, deletedAtMs));
  if (there !== undefined && there.id !== stored.id && !goneUpstream(there)) {
    // Another system recreated it: the requested one is gone, and the new one must stay visible. A newer reading wins
    // over the one from before the deletion.
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

/** Returns the template of this name upstream; the stored one when the platform fails. */
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
 * A refusal counts only while the template is still there, so that a deletion whose answer was lost can be retried. A
 * lagging list does not prevent the attempt.
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
