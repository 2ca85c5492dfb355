import { type CsvLine, csvText } from '../../http/csv.ts';
import { type ReportRow, ReportRowSchema } from './report.ts';

/** The columns of a report as CSV: the fields of its rows, always all of them and in this order (D59). */
export const reportColumns = Object.keys(ReportRowSchema.entries) as (keyof ReportRow)[];

/** Rows of a report as CSV. The first page names the columns, so that pages one after the other are one file. */
export function reportCsv(rows: readonly ReportRow[], { withNames }: { readonly withNames: boolean }): string {
  const lines: CsvLine[] = rows.map((row) => reportColumns.map((column) => row[column]));
  return csvText(withNames ? [reportColumns, ...lines] : lines);
}
