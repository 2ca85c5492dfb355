import { replacedIdReader, replacedIdWriter } from '../inbound/replaced-ids-store.ts';
import { messagesTable } from './messages-table.ts';

export function deployedReplacedIdReader() {
  return replacedIdReader(messagesTable());
}

export function deployedReplacedIdWriter() {
  return replacedIdWriter(messagesTable());
}
