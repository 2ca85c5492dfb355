import type { Waba } from '../../access/directory.ts';
import { FaultList } from '../../http/fault-list.ts';
import type { Part } from '../../http/json-part.ts';
import { invalid, refuseFaults } from '../../http/refusal.ts';
import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { changingAtPlatform } from '../../platform/refusals.ts';
import { sendBestEffort } from '../../webhooks/send-best-effort.ts';
import { settlingAmbiguous } from '../authoring/ambiguous-change.ts';
import { type ButtonRedirects, type RedirectPorts, withButtonRedirects } from '../authoring/button-redirects.ts';
import { fileFaults, type MediaFile, type MediaPorts, withMediaHandles } from '../authoring/header-media.ts';
import type { TemplateManagement } from '../authoring/platform-template-management.ts';
import { requestTime } from '../authoring/request-time.ts';
import { refuseUnstorable } from '../authoring/storable.ts';
import { checkRedirectTargets, checkSources } from '../authoring/template-request.ts';
import { findTemplate, refuseDirectMessage } from '../model/find-template.ts';
import { type SentOtpSettings, sentOtpSettings } from '../model/sent-otp-settings.ts';
import { isFresh } from '../model/stored-fact.ts';
import type { PlatformTemplate } from '../model/template.ts';
import { statusChangedEvents } from '../model/template-event.ts';
import type { TemplateStore } from '../model/template-store.ts';
import { checkComponents } from '../rules/components.ts';
import { at, type Category, categories, type TemplateDraft } from '../rules/draft.ts';
import { checkSettings } from '../rules/settings.ts';
import { upstreamComponents } from '../rules/upstream-components.ts';
import { type CurrentTemplate, type CurrentTemplatePorts, currentTemplate } from './current-template.ts';
import { isAsRead, keysOf, withoutKeys, writtenByClient } from './edit-components.ts';
import { codeSettings, editChanges, hasNewMedia } from './edit-diff.ts';
import type { EditRequest } from './edit-request.ts';

export interface EditPorts extends MediaPorts, RedirectPorts, CurrentTemplatePorts {
  readonly templates: Pick<TemplateStore, 'stateOf' | 'refresh' | 'writeUpstream' | 'forgetSentCode'>;
  readonly management: Pick<TemplateManagement, 'edit'>;
  /** Holds the template's messages while it is in review (D46). Is idempotent; throws when the store fails. */
  readonly templateHolds: {
    heedWord(
      template: { readonly wabaId: string; readonly name: string; readonly language: string },
      word: { readonly status: 'PENDING' },
    ): Promise<void>;
  };
}

export interface TemplateEdit {
  readonly messageTemplateId: string;
  readonly clientId: number;
  readonly request: Omit<EditRequest, 'clientId'>;
  readonly file?: MediaFile | undefined;
  readonly startedAtMs: number;
}

export interface EditedTemplate {
  /** False says that nothing differs; then nothing is written. */
  readonly changed: boolean;
  readonly template: Pick<PlatformTemplate, 'name' | 'language'>;
}

/**
 * Edits a template upstream, holds its messages (D46), stores it as PENDING for every client of the WABA (D20) and
 * tells them (D34). Refuses with 404, 409 (D22), 400, and as the platform.
 */
export async function editTemplate(ports: EditPorts, waba: Waba, edit: TemplateEdit): Promise<EditedTemplate> {
  const found = await findTemplate(ports.templates, waba, edit.messageTemplateId);
  refuseDirectMessage(found.fact.template, 'edited');
  // A fresh copy lets a wrong request fail without a call to the platform.
  if (isFresh(found.fact, ports.nowMs()))
    wantedDraft(found.fact.template, editedCategory(found.fact.template, edit), edit);
  const current = await currentTemplate(ports, waba, found);
  refuseDirectMessage(current.template, 'edited');
  const category = editedCategory(current.template, edit);
  const checked = wantedDraft(current.template, category, edit);
  const redirected = withRedirectsFor(ports, waba, edit, { templateKey: found.templateKey, checked });
  const draft = checked === undefined ? undefined : { ...checked, components: redirected.components };
  const differing = differences(current, { category, draft, edit, sentCode: found.fact.sentCode });
  if (Object.keys(differing).length === 0) {
    // The platform shows these redirects, so this revives any that had expired before.
    await redirected.prepare();
    await redirected.keep();
    return { changed: false, template: current.template };
  }
  refuseUnstorable({ ...current.template, ...differing });

  const time = requestTime(ports.nowMs, edit.startedAtMs);
  const changes = { ...differing };
  if (draft !== undefined && changes['components'] !== undefined) {
    const { file } = edit;
    const media = { components: draft.components, file, credential: waba.credential, time };
    changes['components'] = upstreamComponents({ ...draft, components: await withMediaHandles(ports, media) });
  }
  await redirected.prepare();
  const asking = () => ports.management.edit(waba, { id: current.template.id, changes }, time.forCall);
  const settle = () => settleUnknown(ports, found.templateKey, { current, changes });
  await changingAtPlatform(() => settlingAmbiguous(asking, settle));
  await takenUpstream(ports, waba, { current, changes, redirected });
  return { changed: true, template: { ...current.template, ...changes } };
}

function withRedirectsFor(
  ports: EditPorts,
  { wabaId }: Waba,
  { request, clientId }: TemplateEdit,
  { templateKey, checked }: { readonly templateKey: string; readonly checked: TemplateDraft | undefined },
): ButtonRedirects {
  const wish = { urlChange: request.urlChange, components: checked?.components ?? [] };
  return withButtonRedirects(ports, wish, { clientId, wabaId, templateKey });
}

interface Wanted {
  readonly category: Category;
  readonly draft: TemplateDraft | undefined;
  readonly edit: TemplateEdit;
  readonly sentCode: SentOtpSettings | undefined;
}

function differences(
  { template }: CurrentTemplate,
  { category, draft, edit, sentCode }: Wanted,
): Record<string, unknown> {
  const { optimizationSpec, timeToLiveSeconds } = edit.request;
  const wanted = {
    category,
    components: draft && upstreamComponents(draft),
    optimizationSpec,
    timeToLiveSeconds,
    newMedia: draft !== undefined && hasNewMedia(template.components, draft.components, draft.fileAttached),
  };
  return editChanges(template, wanted, sentCode);
}

interface Asked {
  readonly current: CurrentTemplate;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly redirected: ButtonRedirects;
}

/**
 * Holds, stores and announces an accepted edit. If storing fails, the next synchronization brings it; without the hold,
 * the first refused message holds the others.
 */
async function takenUpstream(ports: EditPorts, waba: Waba, { current, changes, redirected }: Asked): Promise<void> {
  const { wabaId, clientIds } = waba;
  const template = { ...withoutReason(current.template), ...changes, status: 'PENDING' };
  const nowMs = ports.nowMs();
  const events = statusChangedEvents({ ...template, wabaId }, current.rows, { sinceMs: current.sinceMs, nowMs });
  const sentCode = sentOtpSettings(template.id, changes['components']);
  const store = async () => {
    try {
      // Redirects come first, so that no stored template has a dead one.
      await redirected.keep();
      const write = { kind: 'present', wabaId, clientIds, template, readAtMs: nowMs, asSent: true, sentCode } as const;
      await ports.templates.writeUpstream([write]);
    } catch (error) {
      log('template.not_stored', { wabaId, error: errorName(error) });
    }
  };
  const hold = async () => {
    const { name, language } = template;
    await ports.templateHolds.heedWord({ wabaId, name, language }, { status: 'PENDING' }).catch((error: unknown) => {
      log('hold.not_changed', { wabaId, error: errorName(error) });
    });
  };
  await Promise.all([hold(), store(), sendBestEffort(ports.events, events)]);
}

/**
 * The platform may have taken the edit, so the hidden settings of a code are unknown now. The first reading that shows
 * new redirects keeps them (D19).
 */
async function settleUnknown(
  { templates }: EditPorts,
  templateKey: string,
  { current, changes }: Omit<Asked, 'redirected'>,
): Promise<void> {
  const sendsCode = sentOtpSettings(current.template.id, changes['components']) !== undefined;
  if (sendsCode) await templates.forgetSentCode(templateKey);
}

/**
 * Returns the checked components without the platform's own additions, or undefined when they are those of the listing,
 * which a client need not be allowed to write. Refuses with one 400 for all faults.
 */
function wantedDraft(
  stored: PlatformTemplate,
  category: Category,
  { request, file }: TemplateEdit,
): TemplateDraft | undefined {
  const { components, urlChange, timeToLiveSeconds, codeExpirationMinutes, addSecurityRecommendation } = request;
  const settings = {
    category,
    components,
    fileAttached: file !== undefined,
    editing: true,
    codeExpirationMinutes,
    addSecurityRecommendation,
  } as const;
  const faults = new FaultList();
  const root = { path: '', faults };
  checkSettings(settings, timeToLiveSeconds, root);
  const sameCategory = categoryOf(stored) === category;
  const asRead = sameCategory && file === undefined && isAsRead(stored.components, components);
  if (asRead && !urlChange && !asksOtherCode(stored, request)) {
    refuseFaults(faults.listed(), faults.message);
    return undefined;
  }

  const shown = keysOf(stored.components);
  const unknown = new Map<unknown, Set<string>>();
  const leaveOut = (part: Part, key: string) => {
    if (shown.has(key)) unknown.set(part, (unknown.get(part) ?? new Set()).add(key));
    return shown.has(key);
  };
  const judged = { ...at(root, 'components'), leaveOut };
  const written = writtenByClient(components, category);
  const draft = { ...settings, components: written };
  checkComponents(draft, judged);
  checkSources(written, judged, { editing: true });
  if (urlChange) checkRedirectTargets(written, judged);
  for (const wrongFile of fileFaults(written, file)) faults.add(wrongFile);
  refuseFaults(faults.listed(), faults.message);
  return { ...draft, components: written.map((component) => withoutKeys(component, unknown)) };
}

/** Tells whether the fields beside the components change the settings of a code. */
function asksOtherCode(stored: PlatformTemplate, request: TemplateEdit['request']): boolean {
  const { codeExpirationMinutes: minutes, addSecurityRecommendation: advice } = request;
  const before = codeSettings(stored.components);
  const otherMinutes = minutes !== undefined && Math.ceil(minutes) !== before.minutes;
  return otherMinutes || (advice !== undefined && advice !== before.advice);
}

function categoryOf({ category: stored }: PlatformTemplate): Category | undefined {
  return categories.find((category) => category === stored.toUpperCase());
}

function editedCategory(current: PlatformTemplate, { request: { category: asked } }: TemplateEdit): Category {
  const before = categoryOf(current);
  if (asked !== undefined && asked !== before && current.status === 'APPROVED') {
    throw invalid('category', 'the category of an APPROVED template cannot be changed');
  }
  const category = asked ?? before;
  if (category === undefined) throw invalid('category', 'category is required');
  return category;
}

/** A template in review again has no reason of rejection. */
function withoutReason({ rejected_reason: _, ...template }: PlatformTemplate): PlatformTemplate {
  return template;
}
