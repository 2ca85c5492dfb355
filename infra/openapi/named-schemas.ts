import { LoginBody } from '../../functions/login.ts';
import { TemplatesGetAnswer } from '../../functions/templates-get.ts';
import { TemplatesStatusBody } from '../../functions/templates-status.ts';
import { ProductSchema } from '../../lib/catalog/product.ts';
import { ChannelSchema } from '../../lib/channels/view.ts';
import { ListedDispatchSchema } from '../../lib/messages/outcomes/dispatches.ts';
import { DispatchReportSchema, DispatchSchema, ReportRowSchema } from '../../lib/messages/outcomes/report.ts';
import { MessagesSendBody } from '../../lib/messages/request/send-request.ts';
import { PriceSchema } from '../../lib/pricing/price.ts';
import { ChannelCampaignsBody } from '../../lib/templates/assignments/assignment-request.ts';
import { GroupWithWabasSchema } from '../../lib/templates/assignments/grouped.ts';
import { TemplatesCreateBody } from '../../lib/templates/create/create-request.ts';
import { TemplatesEditBody } from '../../lib/templates/edit/edit-request.ts';
import { ChannelCampaignGroupSchema } from '../../lib/templates/listing/listing.ts';
import { ListedTemplateSchema, PlatformTemplateViewSchema } from '../../lib/templates/listing/view.ts';
import { StatusResultSchema } from '../../lib/templates/status/bulk-status.ts';
import { WebhookConfigPutBody } from '../../lib/webhooks/config/config-request.ts';
import { WebhookConfigSchema } from '../../lib/webhooks/config/config-view.ts';
import type { NamedSchemas } from './json-schema.ts';

/** Answers, and what they are made of, by the names that generated clients give their types. */
export const answerSchemas: NamedSchemas = {
  Template: TemplatesGetAnswer,
  ListedTemplate: ListedTemplateSchema,
  PlatformTemplate: PlatformTemplateViewSchema,
  ChannelCampaignGroup: ChannelCampaignGroupSchema,
  ChannelCampaignGroupWithWabas: GroupWithWabasSchema,
  StatusResult: StatusResultSchema,
  Channel: ChannelSchema,
  Product: ProductSchema,
  Price: PriceSchema,
  Dispatch: DispatchSchema,
  DispatchReport: DispatchReportSchema,
  ReportRow: ReportRowSchema,
  ListedDispatch: ListedDispatchSchema,
  WebhookConfig: WebhookConfigSchema,
};

/** Bodies of requests. */
export const requestSchemas: NamedSchemas = {
  LoginRequest: LoginBody,
  SendRequest: MessagesSendBody,
  CreateTemplateRequest: TemplatesCreateBody,
  EditTemplateRequest: TemplatesEditBody,
  TemplateStatusRequest: TemplatesStatusBody,
  ChannelCampaignsRequest: ChannelCampaignsBody,
  WebhookConfigRequest: WebhookConfigPutBody,
};
