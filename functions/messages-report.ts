import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import {
  askedClientId,
  ClientIdText,
  type Clients,
  clientEndpoint,
  clientIdAdvice,
  DidSchema,
  operatingClient,
} from '../lib/access/page.ts';
import { answer, type Endpoint, invalid, noBody, parse, Refusal, shaped } from '../lib/http/page.ts';
import { countTo, listOfWords, textFilter } from '../lib/http/query.ts';
import { deployedKnownRates, deployedReport } from '../lib/messages/deployed/reports.ts';
import { openReport, type ReportPorts, readPage } from '../lib/messages/report/read-report.ts';
import { DispatchReportSchema, MessageState, reportAnswer, statesOf } from '../lib/messages/report/report.ts';
import { isPlaceIn, reportMaxLimit, reportPlaceOf } from '../lib/messages/report/report-place.ts';

const defaultLimit = 100;

export const MessagesReportPath = v.object({ did: DidSchema, dispatchId: v.string() });
export const MessagesReportQuery = v.object({
  client_id: ClientIdText,
  state: listOfWords(MessageState),
  limit: countTo('limit', reportMaxLimit),
  cursor: textFilter,
});

export const MessagesReportAnswer = DispatchReportSchema;

type Ports = { readonly directory: Clients } & ReportPorts;

/**
 * GET /v1/template/messages/{did}/{dispatchId}: what became of the recipients of one dispatch, for the client that sent it
 * and on the DID that it was sent from, whosever that is by now (D40).
 */
export function messagesReport(ports: Ports): Endpoint {
  return clientEndpoint(ports, { body: noBody, query: MessagesReportQuery }, async (event) => {
    const { caller } = event;

    const { did, dispatchId: jobId } = parse(MessagesReportPath, event.pathParameters ?? {});
    const query = parse(MessagesReportQuery, event.queryStringParameters ?? {});
    const question = { jobId, states: statesOf(query.state), limit: query.limit ?? defaultLimit };
    const from = query.cursor === undefined ? undefined : reportPlaceOf(question, query.cursor);
    if (query.cursor !== undefined && from === undefined) throw strayCursor();
    const askedId = askedClientId({ query: query.client_id });

    // Side by side, because the report has few round trips; nothing of it is told before the client is known.
    const [clientId, open, rates] = await Promise.all([
      operatingClient(ports.directory, caller, askedId),
      openReport(ports.report, question, from),
      ports.rates(),
    ]);
    if (open?.job.head.clientId !== clientId || open.job.head.did !== did) {
      throw new Refusal('dispatch_not_found', `dispatch not found${clientIdAdvice(caller, askedId)}`);
    }

    if (from !== undefined && !isPlaceIn(open.job, question, from)) throw strayCursor();

    const page = await readPage(ports.report, question, open, { nowMs: ports.nowMs(), rates });

    return answer(200, shaped(MessagesReportAnswer, reportAnswer(open.job, question, page)));
  });
}

function strayCursor(): Refusal {
  return invalid('cursor', 'cursor is not one of this report');
}

export const handler = deployed(() =>
  messagesReport({ ...deployedAccess(), report: deployedReport(), rates: deployedKnownRates() }),
);
