import { type CsvLine, csvText } from '../../http/csv.ts';
import { type ReportRow, ReportRowSchema } from './report.ts';

/** A report's CSV has all fields of its rows, always in this order (D59). */
const reportColumns = Object.keys(ReportRowSchema.entries) as (keyof ReportRow)[];

/** Returns report rows as CSV. Only the first page has column names, so that pages can be concatenated. */
export function reportCsv(rows: readonly ReportRow[], { withNames }: { readonly withNames: boolean }): string {
  const lines: CsvLine[] = rows.map((row) => reportColumns.map((column) => row[column]));
  return csvText(withNames ? [reportColumns, ...lines] : lines);
}
