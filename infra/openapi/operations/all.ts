import type { Operations } from '../operation.ts';
import { access } from './access.ts';
import { assignments } from './assignments.ts';
import { directory } from './directory.ts';
import { optOuts } from './opt-outs.ts';
import { platform } from './platform.ts';
import { sending } from './sending.ts';
import { templates } from './templates.ts';
import { webhooks } from './webhooks.ts';

/** The keys are the stems of the pages' files. */
export const operations: Operations = {
  ...access,
  ...sending,
  ...templates,
  ...assignments,
  ...directory,
  ...optOuts,
  ...webhooks,
  ...platform,
};
