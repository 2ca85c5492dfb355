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
import { prefersType } from '../lib/http/content-negotiation.ts';
import { answer, csvAnswer, type Endpoint, invalid, noBody, parse, Refusal, shaped } from '../lib/http/page.ts';
import { countTo, listOfWords, textFilter } from '../lib/http/query.ts';
import { omitUndefined } from '../lib/keys/omit-undefined.ts';
import { deployedReport } from '../lib/messages/deployed/reports.ts';
import { openReport, type ReportPorts, readPage } from '../lib/messages/report/read-report.ts';
import { DispatchReportSchema, MessageState, reportAnswer, statesOf } from '../lib/messages/report/report.ts';
import { reportCsv } from '../lib/messages/report/report-csv.ts';
import { isPlaceIn, reportMaxLimit, reportPlaceOf } from '../lib/messages/report/report-cursor.ts';
import { deployedKnownRates } from '../lib/pricing/deployed.ts';

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
 * GET /v1/template/messages/{did}/{dispatchId}: reports the outcomes of one dispatch, for its client and on its DID,
 * even if another client has the DID by now (D40), as CSV if the request prefers it (D59).
 */
export function messagesReport(ports: Ports): Endpoint {
  return clientEndpoint(ports, { body: noBody, query: MessagesReportQuery }, async (event) => {
    const { caller } = event;

    const { did, dispatchId } = parse(MessagesReportPath, event.pathParameters ?? {});
    const query = parse(MessagesReportQuery, event.queryStringParameters ?? {});
    const question = { dispatchId, states: statesOf(query.state), limit: query.limit ?? defaultLimit };
    const from = query.cursor === undefined ? undefined : reportPlaceOf(question, query.cursor);
    if (query.cursor !== undefined && from === undefined) throw strayCursor();
    const askedId = askedClientId({ query: query.client_id });

    // Concurrent reads save a round trip; the answer waits for the check of the client.
    const [clientId, open, rates] = await Promise.all([
      operatingClient(ports.directory, caller, askedId),
      openReport(ports.report, question, from),
      ports.rates(),
    ]);
    if (open?.dispatch.head.clientId !== clientId || open.dispatch.head.did !== did) {
      throw new Refusal('dispatch_not_found', `dispatch not found${clientIdAdvice(caller, askedId)}`);
    }

    if (from !== undefined && !isPlaceIn(open.dispatch, question, from)) throw strayCursor();

    const page = await readPage(ports.report, question, open, { nowMs: ports.nowMs(), rates });

    const body = reportAnswer(open.dispatch, question, page);
    if (!prefersType('text/csv', event.headers['accept'])) return answer(200, shaped(MessagesReportAnswer, body));

    const withNames = from === undefined;
    const link = linkTo(event.queryStringParameters ?? {}, body.paging.cursors.after);
    return csvAnswer(reportCsv(page.rows, { withNames }), { withNames, headers: omitUndefined({ link }) });
  });
}

/** Links to the next page relatively, because a CSV has no place for a cursor. */
function linkTo(query: Readonly<Record<string, string | undefined>>, after: string | undefined): string | undefined {
  if (after === undefined) return undefined;
  return `<?${new URLSearchParams({ ...(query as Record<string, string>), cursor: after })}>; rel="next"`;
}

function strayCursor(): Refusal {
  return invalid('cursor', 'cursor is not one of this report');
}

export const handler = deployed(() =>
  messagesReport({ ...deployedAccess(), report: deployedReport(), rates: deployedKnownRates() }),
);
