/*
 * The service reads these webhook fields (platform reference, 10.2 and 10.3). A stage's app must subscribe to all of
 * them, or the platform sends them nowhere.
 */

export const templateFields = [
  'message_template_status_update',
  'template_category_update',
  'message_template_quality_update',
  'message_template_components_update',
] as const;

/** The platform's pages spell the field in both ways (platform reference, 10.3); an app subscribes to the first. */
export const categoryFields = ['template_category_update', 'message_template_category_update'] as const;

/** The platform reports a portfolio's messaging limit for each of its numbers when these are read. */
export const numberFields = ['phone_number_quality_update', 'account_update', 'business_capability_update'] as const;

/** These carry receipts, and people's messages and preferences; `standby` those that another app answers. */
export const messageFields = ['messages', 'standby', 'user_preferences'] as const;

export const webhookFields: readonly string[] = [...messageFields, ...templateFields, ...numberFields];
