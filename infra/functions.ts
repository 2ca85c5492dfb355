import { accessFunctions } from './function-shapes/access.ts';
import { lookupFunctions } from './function-shapes/lookups.ts';
import { messageFunctions } from './function-shapes/messages.ts';
import { optOutFunctions } from './function-shapes/opt-outs.ts';
import { platformWebhookFunctions } from './function-shapes/platform-webhook.ts';
import type { FunctionShape } from './function-shapes/shape.ts';
import { templateFunctions } from './function-shapes/templates.ts';
import { webhookFunctions } from './function-shapes/webhooks.ts';

/** The keys are the stems of the files in `functions/`. */
export const functions: Readonly<Record<string, FunctionShape>> = {
  ...accessFunctions,
  ...lookupFunctions,
  ...templateFunctions,
  ...platformWebhookFunctions,
  ...messageFunctions,
  ...optOutFunctions,
  ...webhookFunctions,
};
