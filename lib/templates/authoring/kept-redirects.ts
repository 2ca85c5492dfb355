import type { RedirectStore } from '../../redirects/redirect-store.ts';
import { redirectCodesOf } from '../../redirects/rewriting.ts';
import type { PlatformTemplate } from '../model/template.ts';
import { templateKey } from '../model/template-key.ts';
import type { TemplateStore } from '../model/template-store.ts';
import { keepRedirects } from './button-redirects.ts';

type Writing = Pick<TemplateStore, 'refresh' | 'writeUpstream'>;

/**
 * Makes a template's redirects permanent before it stores the platform's reading (D19). So a reading repairs a request
 * that died after the platform's yes. If that fails, nothing is stored.
 */
export function keepingRedirects<Store extends Writing>(
  templates: Store,
  redirects: Pick<RedirectStore, 'keep'>,
): Store {
  const keep = (wabaId: string, template: PlatformTemplate) => {
    const key = templateKey({ ...template, wabaId });
    return keepRedirects(redirects, redirectCodesOf(template.components), { templateKey: key, wabaId });
  };
  const refresh: Writing['refresh'] = async (wanted, template, readAtMs) => {
    await keep(wanted.wabaId, template);
    await templates.refresh(wanted, template, readAtMs);
  };
  const writeUpstream: Writing['writeUpstream'] = async (writes, options) => {
    for (const write of writes) {
      // A template as sent is skipped: its sender keeps the redirects.
      if (write.kind === 'present' && write.asSent !== true) await keep(write.wabaId, write.template);
    }
    return await templates.writeUpstream(writes, options);
  };
  return { ...templates, refresh, writeUpstream };
}
