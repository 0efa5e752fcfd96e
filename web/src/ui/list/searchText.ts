import { catalogue } from '../../lib/i18n'

export const useSearchText = catalogue(
  {
    noMatches: 'No matches',
    noMatchesBody: 'Change or clear the filter.',
  },
  {
    noMatches: 'Sin coincidencias',
    noMatchesBody: 'Cambia o vacía el filtro.',
  },
)
