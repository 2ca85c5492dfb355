import { invalid } from '../../http/refusal.ts';
import { maxPackedBytes, maxTemplateLevels, packTemplate, unstorableReason } from '../model/stored-fact.ts';
import type { PlatformTemplate } from '../model/template.ts';

/** Refuses with 400 a template that could not be stored or compared later (D18). */
export function refuseUnstorable(template: Readonly<Record<string, unknown>>): void {
  const whole = { id: '', status: '', ...template } as PlatformTemplate;
  const obstacle = unstorableReason(whole);
  if (obstacle === undefined) return;
  if (obstacle === 'too_deep')
    throw invalid('components', `components: at most ${maxTemplateLevels} levels of nesting`);
  const sizeOf = (key: string) => JSON.stringify(template[key] ?? null).length;
  const path = sizeOf('optimization_spec') > sizeOf('components') ? 'optimization_spec' : 'components';
  const bytes = packTemplate(whole).byteLength;
  throw invalid(path, `${path}: a template takes at most ${maxPackedBytes} bytes when compressed, received ${bytes}`);
}
