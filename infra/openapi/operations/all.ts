import type { Operations } from '../operation.ts';
import { access } from './access.ts';
import { assignments } from './assignments.ts';
import { directory } from './directory.ts';
import { optOuts } from './opt-outs.ts';
import { platform } from './platform.ts';
import { sending } from './sending.ts';
import { templates } from './templates.ts';
import { webhooks } from './webhooks.ts';

/** Every operation of the interface, by the stem of its page's file. */
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
