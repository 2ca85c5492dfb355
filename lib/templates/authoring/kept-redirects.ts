import type { RedirectStore } from '../../redirects/redirect-store.ts';
import { redirectCodesOf } from '../../redirects/rewriting.ts';
import type { PlatformTemplate } from '../model/template.ts';
import { templateKey } from '../model/template-key.ts';
import type { TemplateStore } from '../model/template-store.ts';
import { keepRedirects } from './button-redirects.ts';

type Writing = Pick<TemplateStore, 'refresh' | 'writeUpstream'>;

/**
 * A template store that lets the redirects of a template lead on before it stores the template as the platform shows it
 * (D19). So the first reading makes good for a request that died after the platform's yes, or whose answer was lost. When
 * that fails nothing is stored. What was sent and not read yet passes: the sender sees to it.
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
      if (write.kind === 'present' && write.asSent !== true) await keep(write.wabaId, write.template);
    }
    return await templates.writeUpstream(writes, options);
  };
  return { ...templates, refresh, writeUpstream };
}
