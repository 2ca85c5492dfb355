import { dispatchItemStore } from '../dispatch/item-store.ts';
import { backlogStore } from '../sender/backlog-store.ts';
import { announcedStop } from '../sender/stop-news.ts';
import { messagesTable } from './messages-table.ts';

/** Each stop is announced to the senders of its dispatch. */
export function deployedDispatchStates() {
  const table = messagesTable();
  const states = dispatchItemStore(table);
  return { ...states, stop: announcedStop(states.stop, backlogStore(table)) };
}
