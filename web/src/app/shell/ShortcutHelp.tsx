import { Group, Kbd, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { catalogue } from '../../lib/i18n'
import { usePrefs } from '../../lib/prefs'
import { Dialog } from '../../ui/form/Dialog'
import { PAGES, useNavTitles } from '../pages'
import { useText } from '../text'

const useShortcutText = catalogue(
  {
    keysTitle: 'Keyboard',
    keysOff: 'Single-key shortcuts are turned off in Appearance.',
    key: {
      palette: 'Search, go to, run',
      help: 'Keyboard shortcuts',
      goto: 'Go to …',
      create: 'Create here',
      filter: 'Filter',
      move: 'Next, previous row',
      open: 'Open',
      select: 'Select',
      runIt: 'Run',
      edit: 'Edit',
      rowMenu: 'Open row menu',
      approve: 'Approve',
      reject: 'Reject',
      find: 'Find in the log',
      next: 'Next, previous match',
      end: 'Jump to the end and follow',
      wrap: 'Wrap lines',
      times: 'Timestamps',
      save: 'Save',
      submit: 'Run or send the dialog',
    },
    groups: { everywhere: 'Everywhere', lists: 'In lists', log: 'In a log', forms: 'In forms' },
  },
  {
    keysTitle: 'Teclado',
    keysOff: 'Los atajos de una tecla están desactivados en Apariencia.',
    key: {
      palette: 'Buscar, ir a, ejecutar',
      help: 'Atajos de teclado',
      goto: 'Ir a …',
      create: 'Crear aquí',
      filter: 'Filtrar',
      move: 'Fila siguiente, anterior',
      open: 'Abrir',
      select: 'Seleccionar',
      runIt: 'Ejecutar',
      edit: 'Editar',
      rowMenu: 'Abrir menú de la fila',
      approve: 'Aprobar',
      reject: 'Rechazar',
      find: 'Buscar en el registro',
      next: 'Coincidencia siguiente, anterior',
      end: 'Ir al final y seguir',
      wrap: 'Ajustar líneas',
      times: 'Horas',
      save: 'Guardar',
      submit: 'Ejecutar o enviar el diálogo',
    },
    groups: {
      everywhere: 'En todas partes',
      lists: 'En listas',
      log: 'En un registro',
      forms: 'En formularios',
    },
  },
)

export function ShortcutHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useText()
  const navTitles = useNavTitles()
  const s = useShortcutText()
  const k = s.key
  const { keys } = usePrefs()
  const goes = PAGES.filter((page) => page.key).map((page) => [
    `g ${page.key}`,
    `${t.goTo}: ${navTitles[page.name]}`,
  ])
  const groups: [string, string[][]][] = [
    [s.groups.everywhere, [['Ctrl K', k.palette], ['?', k.help], ...(goes as string[][])]],
    [
      s.groups.lists,
      [
        ['j', k.move],
        ['k', k.move],
        ['Enter', k.open],
        ['x', k.select],
        ['/', k.filter],
        ['c', k.create],
        ['r', k.runIt],
        ['e', k.edit],
        ['.', k.rowMenu],
        ['a', k.approve],
        ['Shift R', k.reject],
      ],
    ],
    [
      s.groups.log,
      [
        ['f', k.find],
        ['n', k.next],
        ['Shift N', k.next],
        ['Shift G', k.end],
        ['w', k.wrap],
        ['t', k.times],
      ],
    ],
    [
      s.groups.forms,
      [
        ['Ctrl S', k.save],
        ['Ctrl Enter', k.submit],
      ],
    ],
  ]
  return (
    <Dialog opened={opened} onClose={onClose} title={s.keysTitle} size="lg">
      {keys ? null : <Text size="sm">{s.keysOff}</Text>}
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
        {groups.map(([name, rows]) => (
          <Stack key={name} gap={4}>
            <Title order={3} size="h6">
              {name}
            </Title>
            {rows.map(([key, meaning]) => (
              <Group key={key} justify="space-between" wrap="nowrap">
                <Text size="sm">{meaning}</Text>
                <Kbd size="xs">{key}</Kbd>
              </Group>
            ))}
          </Stack>
        ))}
      </SimpleGrid>
    </Dialog>
  )
}
