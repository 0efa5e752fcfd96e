import { catalogue } from '../../lib/i18n'

export const useSearchText = catalogue(
  {
    noneFits: 'No matches',
    noneFitsBody: 'Change or clear the filter.',
  },
  {
    noneFits: 'Sin coincidencias',
    noneFitsBody: 'Cambia o vacía el filtro.',
  },
)
