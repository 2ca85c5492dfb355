import { changeProfile, readProfile } from './business-profile.ts';
import { answerBusiness } from './businesses.ts';
import { listCatalogs, listProducts, readCatalog } from './catalogs/read.ts';
import { forgetContact } from './contact-book-edge.ts';
import { acceptedTypesText, graphError, notSimulated, PlatformError, unknownNode } from './errors.ts';
import { exampleAt } from './media/examples.ts';
import { deleteMedium, downloadMedium, downloads, readMedium, uploadMedium } from './media/media.ts';
import type { Medium } from './media/media-store.ts';
import { listNumbers, readNumber, readWaba } from './numbers.ts';
import { answerOauth } from './oauth.ts';
import type { PlatformRequest } from './platform-request.ts';
import { deregisterNumber, registerNumber } from './registration.ts';
import { errorReply, type Reply } from './reply.ts';
import type { SeedToken } from './seed.ts';
import { usageHeader } from './sending/limits.ts';
import { sendMessage } from './sending/send.ts';
import type { World } from './state.ts';
import { compareTemplates } from './templates/compare.ts';
import { createTemplate } from './templates/create.ts';
import { deleteTemplates } from './templates/delete.ts';
import { editTemplate, unpauseTemplate } from './templates/edit.ts';
import { answerLibrary } from './templates/library.ts';
import { listTemplates, readTemplate } from './templates/read.ts';
import type { Template } from './templates/template.ts';
import { upsertTemplates } from './templates/upsert.ts';
import { answerUpload } from './uploads/upload.ts';
import type { Catalog, PhoneNumber, Waba } from './wabas.ts';
import {
  answerAppSubscriptions,
  appToken,
  listSubscribedApps,
  subscribeApp,
  unsubscribeApp,
} from './webhooks/subscriptions.ts';

type Answer = Reply | Promise<Reply>;

/** The keys are operations of a kind of node: `METHOD edge`, or the method alone for the node itself. */
const wabaEdges = new Map<string, (world: World, waba: Waba, request: PlatformRequest) => Answer>([
  ['GET', readWaba],
  ['GET message_templates', listTemplates],
  ['POST message_templates', createTemplate],
  ['DELETE message_templates', deleteTemplates],
  ['POST upsert_message_templates', upsertTemplates],
  ['GET phone_numbers', listNumbers],
  ['GET product_catalogs', (_, waba, request) => listCatalogs(waba, request)],
  ['GET subscribed_apps', listSubscribedApps],
  ['POST subscribed_apps', subscribeApp],
  ['DELETE subscribed_apps', unsubscribeApp],
]);
const numberEdges = new Map<string, (world: World, number: PhoneNumber, request: PlatformRequest) => Answer>([
  ['GET', readNumber],
  ['POST messages', (world, number, request) => sendMessage(world, { number, endpoint: 'messages' }, request)],
  [
    'POST marketing_messages',
    (world, number, request) => sendMessage(world, { number, endpoint: 'marketing_messages' }, request),
  ],
  ['POST media', uploadMedium],
  ['DELETE contact_book', forgetContact],
  ['POST register', registerNumber],
  ['POST deregister', deregisterNumber],
  ['GET whatsapp_business_profile', readProfile],
  ['POST whatsapp_business_profile', changeProfile],
]);
const mediumEdges = new Map<string, (world: World, medium: Medium, request: PlatformRequest) => Answer>([
  ['GET', readMedium],
  ['DELETE', deleteMedium],
  [downloads, downloadMedium],
]);
const catalogEdges = new Map<string, (catalog: Catalog, request: PlatformRequest) => Answer>([
  ['GET', readCatalog],
  ['GET products', listProducts],
]);
const templateEdges = new Map<string, (world: World, template: Template, request: PlatformRequest) => Answer>([
  ['GET', (_, template, request) => readTemplate(template, request)],
  ['POST', editTemplate],
  ['POST unpause', unpauseTemplate],
  ['GET compare', compareTemplates],
]);

/** Checks the token, the path, the node and the right, in the platform's order; then the edge runs. */
export async function answerPlatform(world: World, request: PlatformRequest): Promise<Reply> {
  let headers: Readonly<Record<string, string>> | undefined;
  try {
    const ofStranger = answerOauth(world, request);
    if (ofStranger !== undefined) return ofStranger;
    const example = request.method === 'GET' ? exampleAt(request.path) : undefined;
    if (example !== undefined) return { kind: 'bytes', status: 200, ...example };
    const token = tokenOf(world, request);
    const { nodeId, operation } = operationOf(request);
    const ofNoWaba =
      answerUpload(world.uploads, { token, nodeId, operation }, request) ??
      answerAppSubscriptions(world, { token, nodeId, operation }, request) ??
      answerLibrary({ nodeId, operation }, request) ??
      answerBusiness(world, { token, nodeId, operation }, request);
    if (ofNoWaba !== undefined) return await ofNoWaba;
    const { wabaId, sends, run } = edgeOf(world, { nodeId, operation }, { ...request, token });
    if (!token.waba_ids.includes(wabaId)) throw noRight(sends);
    const caller = { appId: token.app_id, wabaId };
    if (!sends) world.managementUsage.count(caller, world.clock.nowMs());
    headers = usageHeader(wabaId, world.managementUsage.used(caller, world.clock.nowMs()));
    const reply = await run();
    return reply.kind === 'json' ? { ...reply, headers } : reply;
  } catch (error) {
    if (error instanceof PlatformError) return errorReply(error, world.nextTraceId(), headers);
    throw error;
  }
}

/** Some reads without a token are refused as an app's would be (platform reference, 6.2). */
const asksForApp = /\/whatsapp_business_profile\/?$/;

function tokenOf(world: World, { accessToken: text, method, path }: PlatformRequest): SeedToken {
  const isMissing = text === undefined || text === '';
  if (isMissing && method === 'GET' && asksForApp.test(path)) throw graphError(200, 'Provide valid app ID');
  if (isMissing) throw graphError(190, 'An access token is required to request this resource.');
  const token = world.tokens.get(text) ?? appToken(world, text);
  if (token === undefined) throw graphError(190, 'Invalid OAuth access token - Cannot parse access token');
  const nowMs = world.clock.nowMs();
  if (token.expires_at !== undefined && Date.parse(token.expires_at) <= nowMs) {
    throw graphError(
      190,
      `Error validating access token: Session has expired on ${new Date(token.expires_at).toUTCString()}. The current time is ${new Date(nowMs).toUTCString()}.`,
      { subcode: 463 },
    );
  }
  return token;
}

function operationOf(request: PlatformRequest): { readonly nodeId: string; readonly operation: string } {
  const parts = /^(?:\/v\d+\.\d+)?\/([^/]+)(?:\/([^/]+))?\/?$/.exec(request.path);
  if (parts === null) throw graphError(2500, `Unknown path components: ${request.path}. ${acceptedTypesText}.`);
  const [, node = '', edge] = parts;
  // Some client libraries escape the colon of an upload.
  const nodeId = node.replace(/^upload%3A/i, 'upload:');
  if (nodeId === downloads && edge !== undefined && request.method === 'GET')
    return { nodeId: edge, operation: downloads };
  return { nodeId, operation: edge === undefined ? request.method : `${request.method} ${edge}` };
}

interface Edge {
  readonly wabaId: string;
  readonly sends: boolean;
  readonly run: () => Answer;
}

function edgeOf(
  world: World,
  wanted: { readonly nodeId: string; readonly operation: string },
  request: PlatformRequest,
): Edge {
  const { nodeId, operation } = wanted;
  const edge = (wabaId: string, run: (() => Answer) | undefined): Edge => {
    if (run === undefined) throw notSimulated(nodeId, operation);
    return { wabaId, run, sends: operation.endsWith('messages') };
  };
  const waba = world.wabas.get(nodeId);
  if (waba !== undefined) {
    const work = wabaEdges.get(operation);
    return edge(waba.id, work && (() => work(world, waba, request)));
  }
  const number = world.numbers.get(nodeId);
  if (number !== undefined) {
    const work = numberEdges.get(operation);
    return edge(number.wabaId, work && (() => work(world, number, request)));
  }
  const catalog = world.catalogs.get(nodeId);
  if (catalog !== undefined) {
    const work = catalogEdges.get(operation);
    return edge(catalog.wabaId, work && (() => work(catalog, request)));
  }
  const medium = world.media.get(nodeId, world.clock.nowMs());
  if (medium !== undefined) {
    const work = mediumEdges.get(operation);
    return edge(world.numbers.get(medium.numberId)?.wabaId ?? '', work && (() => work(world, medium, request)));
  }
  const template = world.templates.get(nodeId);
  if (template === undefined) {
    // Ids of nodes are numeric; `me`, `debug_token` and the like are calls.
    throw /^\d+$/.test(nodeId) ? unknownNode(request.method, nodeId) : notSimulated(nodeId, operation);
  }
  const work = templateEdges.get(operation);
  return edge(template.wabaId, work && (() => work(world, template, request)));
}

function noRight(sends: boolean): PlatformError {
  return sends
    ? graphError(10, '(#10) Application does not have permission for this action')
    : graphError(200, '(#200) You do not have permission to access this business account');
}
