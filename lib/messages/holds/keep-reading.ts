import type { Directory } from '../../access/directory.ts';
import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { type ReadingPorts, storeReading } from '../../templates/model/store-reading.ts';
import { templateKey } from '../../templates/model/template-key.ts';
import type { TemplateStore } from '../../templates/model/template-store.ts';
import type { TemplateQuestionPorts } from './template-question.ts';

export interface KeepReadingPorts extends ReadingPorts {
  readonly directory: Pick<Directory, 'findDid'>;
  readonly templates: ReadingPorts['templates'] & Pick<TemplateStore, 'stateOf'>;
}

/**
 * Stores what a sender has read of a template, so that its messages are judged by it (D56). A DID that has another WABA
 * by now stores nothing.
 */
export function keepReading(ports: KeepReadingPorts): TemplateQuestionPorts['keepReading'] {
  return async ({ did, wabaId, templateName: name, templateLanguage: language }, template, readAtMs) => {
    try {
      const found = await ports.directory.findDid(did);
      if (found?.waba.wabaId !== wabaId) return;
      const { waba } = found;
      const { fact, rows } = await ports.templates.stateOf(templateKey({ wabaId, name, language }), waba.clientIds);
      await storeReading(ports, { waba, before: fact, rows: async () => rows, template, readAtMs });
    } catch (error) {
      log('template.not_stored', { wabaId, error: errorName(error) });
    }
  };
}
