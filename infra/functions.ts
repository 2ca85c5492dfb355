import { accessFunctions } from './function-shapes/access.ts';
import { lookupFunctions } from './function-shapes/lookups.ts';
import { messageFunctions } from './function-shapes/messages.ts';
import { optOutFunctions } from './function-shapes/opt-outs.ts';
import { platformWebhookFunctions } from './function-shapes/platform-webhook.ts';
import type { FunctionShape } from './function-shapes/shape.ts';
import { templateFunctions } from './function-shapes/templates.ts';
import { webhookFunctions } from './function-shapes/webhooks.ts';

/** Every function, by the stem of its file in `functions/`: how it runs and what it may access. */
export const functions: Readonly<Record<string, FunctionShape>> = {
  ...accessFunctions,
  ...lookupFunctions,
  ...templateFunctions,
  ...platformWebhookFunctions,
  ...messageFunctions,
  ...optOutFunctions,
  ...webhookFunctions,
};
