import { OptOutsView } from './opt-outs-view.tsx';
import { PeopleEventsView } from './people-events.tsx';
import { PhonesView } from './people-phones.tsx';
import { place } from './router.ts';
import { useStore } from './store.ts';

/** Shows opt-outs, acts on the phones, and the events about them. */
export function PeoplePage() {
  const { show = '' } = useStore(place).filter;
  if (show === 'phones') return <PhonesView />;
  return show === 'told' ? <PeopleEventsView /> : <OptOutsView />;
}
