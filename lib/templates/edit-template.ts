import type { Waba } from '../access/directory.ts';
import { FaultList } from '../http/fault-list.ts';
import { invalid, refuseFaults } from '../http/refusal.ts';
import { log } from '../observe/log.ts';
import { changingAtPlatform } from '../platform/refusals.ts';
import type { TemplateManagement } from '../platform/template-management.ts';
import { announce } from '../webhooks/announce.ts';
import type { EventSink } from '../webhooks/event.ts';
import { type RedirectPorts, withButtonRedirects } from './button-redirects.ts';
import { isAsRead, withoutKeys, withSourcesForUrls, writtenByClient } from './edit-components.ts';
import { editChanges, hasNewMedia } from './edit-diff.ts';
import { findTemplate } from './find-template.ts';
import { type MediaFile, type MediaPorts, withMediaHandles } from './header-media.ts';
import { requestTime } from './request-time.ts';
import { checkComponents } from './rules/components.ts';
import { type Category, categories, type Part, type TemplateDraft } from './rules/draft.ts';
import { upstreamComponents } from './rules/upstream-components.ts';
import type { TemplateStore } from './store.ts';
import type { PlatformTemplate } from './template.ts';
import { statusChangedEvents } from './template-event.ts';
import { checkSources } from './template-request.ts';

export interface EditPorts extends MediaPorts, RedirectPorts {
  readonly templates: Pick<TemplateStore, 'stateOf' | 'writeUpstream'>;
  readonly management: Pick<TemplateManagement, 'edit'>;
  readonly events: EventSink;
  readonly nowMs: () => number;
}

export interface TemplateEdit {
  readonly messageTemplateId: string;
  readonly clientId: number;
  readonly category?: Category | undefined;
  readonly components: readonly unknown[];
  /** Static URL buttons are to become redirects (D19); those that did before are no difference. */
  readonly urlChange: boolean;
  readonly optimizationSpec?: Part | undefined;
  /** New media for the header of the message. */
  readonly file?: MediaFile | undefined;
  /** When the request began: what is done outside has one budget from then on. */
  readonly startedAtMs: number;
}

/**
 * Edits a template upstream and stores it as PENDING for every client of the WABA (D20); false, and nothing is called or
 * written, when nothing differs. Media are fetched and uploaded when all else is found right and components are to be sent.
 * Refuses with 404 without a template, with 400 for component faults (all of them), media that will not do and another
 * category of an approved template, and as the platform does. Two DynamoDB requests, and one for redirects. The clients
 * whose status it changes are told (D34), also when storing fails.
 */
export async function editTemplate(ports: EditPorts, waba: Waba, edit: TemplateEdit): Promise<boolean> {
  const { fact, rows, templateKey } = await findTemplate(ports.templates, waba, edit.messageTemplateId);
  const stored = fact.template;
  const category = editedCategory(stored, edit.category);
  const checked = wantedDraft(stored, category, edit);
  const wish = { urlChange: edit.urlChange, components: checked?.components ?? [] };
  const redirected = withButtonRedirects(ports, wish, { clientId: edit.clientId, wabaId: waba.wabaId, templateKey });
  const draft = checked === undefined ? undefined : { ...checked, components: redirected.components };

  const { file, optimizationSpec } = edit;
  const differing = editChanges(stored, {
    category,
    ...(draft === undefined ? {} : { components: upstreamComponents(draft) }),
    ...(optimizationSpec === undefined ? {} : { optimizationSpec }),
    newMedia: draft !== undefined && hasNewMedia(stored.components, draft.components, draft.fileAttached),
  });
  if (Object.keys(differing).length === 0) return false;

  const time = requestTime(ports.nowMs, edit.startedAtMs);
  const changes = { ...differing };
  if (draft !== undefined && changes['components'] !== undefined) {
    const media = { components: withSourcesForUrls(draft.components), file, credential: waba.credential, time };
    changes['components'] = upstreamComponents({ ...draft, components: await withMediaHandles(ports, media) });
    await redirected.store();
  }
  await changingAtPlatform(() => ports.management.edit(waba, { id: stored.id, changes }, time.forCall));

  const edited = { ...withoutReason(stored), ...changes, status: 'PENDING' };
  const nowMs = ports.nowMs();
  const events = statusChangedEvents({ ...edited, wabaId: waba.wabaId }, rows, { occasion: nowMs, nowMs });
  await Promise.all([store(ports, waba, edited), announce(ports.events, events)]);
  return true;
}

/**
 * The components of an edit, checked, without keys that nobody knows (D6); undefined when they are those that the listing
 * shows, which need not be such as a client may write.
 */
function wantedDraft(
  stored: PlatformTemplate,
  category: Category,
  { components, file, urlChange }: TemplateEdit,
): TemplateDraft | undefined {
  const sameCategory = stored.category.toUpperCase() === category;
  const asRead = sameCategory && file === undefined && isAsRead(stored.components, components);
  if (asRead && !urlChange) return undefined;
  const unknown = new Map<unknown, Set<string>>();
  const leaveOut = (part: Part, key: string) => {
    unknown.set(part, (unknown.get(part) ?? new Set()).add(key));
  };
  const faults = new FaultList();
  const judged = { path: 'components', faults, leaveOut };
  const written = writtenByClient(components, category);
  const draft = { category, components: written, fileAttached: file !== undefined, editing: true } as const;
  checkComponents(draft, judged);
  checkSources(written, judged);
  refuseFaults(faults.listed(), faults.message);
  return { ...draft, components: written.map((component) => withoutKeys(component, unknown)) };
}

function editedCategory(stored: PlatformTemplate, asked: Category | undefined): Category {
  const current = categories.find((category) => category === stored.category.toUpperCase());
  if (asked !== undefined && asked !== current && stored.status === 'APPROVED') {
    throw invalid('category', 'the category of an APPROVED template cannot be changed');
  }
  const category = asked ?? current;
  if (category === undefined) throw invalid('category', 'category is required');
  return category;
}

/** Why it was rejected is history once it is in review again. */
function withoutReason({ rejected_reason: _, ...template }: PlatformTemplate): PlatformTemplate {
  return template;
}

/** The platform has taken the edit: if it cannot be stored here, the next synchronization brings it. */
async function store(ports: EditPorts, { wabaId, clientIds }: Waba, template: PlatformTemplate): Promise<void> {
  const readAtMs = ports.nowMs();
  try {
    await ports.templates.writeUpstream([{ kind: 'present', wabaId, clientIds, template, readAtMs, asSent: true }]);
  } catch (error) {
    log('template.not_stored', { wabaId, error: error instanceof Error ? error.name : typeof error });
  }
}
