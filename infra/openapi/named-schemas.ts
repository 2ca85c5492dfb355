import * as v from 'valibot';
import { CampaignsListAnswer } from '../../functions/campaigns-list.ts';
import { CatalogProductsAnswer } from '../../functions/catalog-products-list.ts';
import { CatalogsListAnswer } from '../../functions/catalogs-list.ts';
import { ChannelCampaignsAddAnswer } from '../../functions/channel-campaigns-add.ts';
import { ChannelCampaignsGroupedAnswer } from '../../functions/channel-campaigns-grouped.ts';
import { ChannelCampaignsRemoveAnswer } from '../../functions/channel-campaigns-remove.ts';
import { ChannelCampaignsReplaceAnswer } from '../../functions/channel-campaigns-replace.ts';
import { ChannelsListAnswer } from '../../functions/channels-list.ts';
import { ClientsListAnswer } from '../../functions/clients-list.ts';
import { DispatchesCancelAnswer } from '../../functions/dispatches-cancel.ts';
import { DispatchesFindAnswer } from '../../functions/dispatches-find.ts';
import { DispatchesListAnswer } from '../../functions/dispatches-list.ts';
import { HealthAnswer } from '../../functions/health.ts';
import { LoginAnswer, LoginBody } from '../../functions/login.ts';
import { MeAnswer } from '../../functions/me.ts';
import { MessagesSendAnswer } from '../../functions/messages-send.ts';
import { OptOutsListAnswer } from '../../functions/opt-outs-list.ts';
import { PlatformWebhookAnswer } from '../../functions/platform-webhook-receive.ts';
import { TemplatesCreateAnswer } from '../../functions/templates-create.ts';
import { TemplatesDeleteAnswer } from '../../functions/templates-delete.ts';
import { TemplatesEditAnswer } from '../../functions/templates-edit.ts';
import { TemplatesGetAnswer } from '../../functions/templates-get.ts';
import { TemplatesListAnswer } from '../../functions/templates-list.ts';
import { TemplatesStatusAnswer, TemplatesStatusBody } from '../../functions/templates-status.ts';
import { TemplatesSyncAnswer, TemplatesSyncBody } from '../../functions/templates-sync.ts';
import { ListedClientSchema } from '../../lib/access/listed-client.ts';
import { ProductSchema } from '../../lib/catalog/product.ts';
import { ChannelSchema } from '../../lib/channels/view.ts';
import { FoundDispatchSchema } from '../../lib/messages/find/find-dispatches.ts';
import { RehearsalAnswer } from '../../lib/messages/rehearse/rehearse-send.ts';
import { DispatchStateWord } from '../../lib/messages/report/dispatch-state.ts';
import { ListedDispatchSchema } from '../../lib/messages/report/dispatches.ts';
import {
  DispatchReportSchema,
  DispatchSchema,
  MessageState,
  ReportRowSchema,
} from '../../lib/messages/report/report.ts';
import { MessagesSendBody, ParamsSchema, RecipientSchema } from '../../lib/messages/request/send-request.ts';
import { MessagesRetryBody } from '../../lib/messages/retry/retry-request.ts';
import { SpendDaySchema, SpendRowSchema, SpendSchema } from '../../lib/messages/spend/spend.ts';
import { OptOutSchema } from '../../lib/opt-outs/opt-out-view.ts';
import { TemplateCategoryWord, TemplateStatusWord } from '../../lib/platform/enums.ts';
import { PriceCategoryWord, PriceSchema } from '../../lib/pricing/price.ts';
import { ChannelCampaignsBody } from '../../lib/templates/assignments/assignment-request.ts';
import { GroupWithWabasSchema } from '../../lib/templates/assignments/grouped.ts';
import * as shapes from '../../lib/templates/authoring/component-shapes.ts';
import { TemplatesCreateBody } from '../../lib/templates/create/create-request.ts';
import { TemplatesEditBody } from '../../lib/templates/edit/edit-request.ts';
import { ChannelCampaignGroupSchema } from '../../lib/templates/listing/listing.ts';
import { ListedTemplateSchema, PlatformTemplateViewSchema } from '../../lib/templates/listing/view.ts';
import { StatusResultSchema } from '../../lib/templates/status/bulk-status.ts';
import { WebhookConfigPutBody } from '../../lib/webhooks/config/config-request.ts';
import { WebhookConfigSchema } from '../../lib/webhooks/config/config-view.ts';
import { EventTypeWord } from '../../lib/webhooks/event.ts';
import { eventSchemaName, events } from './events.ts';
import type { NamedSchemas } from './json-schema.ts';

/** A rehearsal's answer has `dry_run`. */
export const SendAnswer = v.union([RehearsalAnswer, MessagesSendAnswer]);

/** The platform, not this document, describes what it posts. */
export const PlatformWebhookBody = v.unknown();

const words: NamedSchemas = {
  TemplateCategory: TemplateCategoryWord,
  TemplateStatus: TemplateStatusWord,
  PriceCategory: PriceCategoryWord,
  MessageState,
  DispatchState: DispatchStateWord,
  EventType: EventTypeWord,
};

/** The keys are the type names of generated clients. */
export const answerSchemas: NamedSchemas = {
  ...words,
  Health: HealthAnswer,
  LoginAnswer,
  SendAnswer,
  Rehearsal: RehearsalAnswer,
  AcceptedSend: MessagesSendAnswer,
  TemplateList: TemplatesListAnswer,
  Template: TemplatesGetAnswer,
  ListedTemplate: ListedTemplateSchema,
  PlatformTemplate: PlatformTemplateViewSchema,
  CreatedTemplate: TemplatesCreateAnswer,
  EditedTemplate: TemplatesEditAnswer,
  DeletedTemplate: TemplatesDeleteAnswer,
  TemplateStatusAnswer: TemplatesStatusAnswer,
  StatusResult: StatusResultSchema,
  StartedSync: TemplatesSyncAnswer,
  ChannelCampaignGroup: ChannelCampaignGroupSchema,
  ChannelCampaignGroupWithWabas: GroupWithWabasSchema,
  ChannelCampaignGroups: ChannelCampaignsGroupedAnswer,
  AddedAssignments: ChannelCampaignsAddAnswer,
  ReplacedAssignments: ChannelCampaignsReplaceAnswer,
  RemovedAssignments: ChannelCampaignsRemoveAnswer,
  Me: MeAnswer,
  ClientList: ClientsListAnswer,
  Client: ListedClientSchema,
  CampaignList: CampaignsListAnswer,
  ChannelList: ChannelsListAnswer,
  Channel: ChannelSchema,
  CatalogList: CatalogsListAnswer,
  ProductList: CatalogProductsAnswer,
  Product: ProductSchema,
  Price: PriceSchema,
  DispatchList: DispatchesListAnswer,
  Dispatch: DispatchSchema,
  FoundDispatches: DispatchesFindAnswer,
  FoundDispatch: FoundDispatchSchema,
  CancelledDispatches: DispatchesCancelAnswer,
  DispatchReport: DispatchReportSchema,
  ReportRow: ReportRowSchema,
  ListedDispatch: ListedDispatchSchema,
  Spend: SpendSchema,
  SpendRow: SpendRowSchema,
  SpendDay: SpendDaySchema,
  OptOut: OptOutSchema,
  OptOutList: OptOutsListAnswer,
  WebhookConfig: WebhookConfigSchema,
  PlatformWebhookAnswer,
  ...Object.fromEntries(events.map(({ type, schema }) => [eventSchemaName(type), schema])),
};

export const requestSchemas: NamedSchemas = {
  ...words,
  LoginRequest: LoginBody,
  SendRequest: MessagesSendBody,
  RetryRequest: MessagesRetryBody,
  Recipient: RecipientSchema,
  RecipientParams: ParamsSchema,
  CreateTemplateRequest: TemplatesCreateBody,
  EditTemplateRequest: TemplatesEditBody,
  TemplateComponent: shapes.ComponentShape,
  TextHeader: shapes.TextHeaderShape,
  MediaHeader: shapes.MediaHeaderShape,
  PlainHeader: shapes.PlainHeaderShape,
  BodyComponent: shapes.BodyShape,
  CodeBodyComponent: shapes.CodeBodyShape,
  FooterComponent: shapes.FooterShape,
  CodeFooterComponent: shapes.CodeFooterShape,
  ButtonsComponent: shapes.ButtonsShape,
  LabelButton: shapes.LabelButtonShape,
  UrlButton: shapes.UrlButtonShape,
  PhoneButton: shapes.PhoneButtonShape,
  CouponButton: shapes.CouponButtonShape,
  FlowButton: shapes.FlowButtonShape,
  CodeButton: shapes.CodeButtonShape,
  CarouselComponent: shapes.CarouselShape,
  CarouselCard: shapes.CardShape,
  LimitedTimeOffer: shapes.OfferShape,
  TemplateStatusRequest: TemplatesStatusBody,
  SyncRequest: TemplatesSyncBody,
  ChannelCampaignsRequest: ChannelCampaignsBody,
  WebhookConfigRequest: WebhookConfigPutBody,
  PlatformWebhookRequest: PlatformWebhookBody,
};
