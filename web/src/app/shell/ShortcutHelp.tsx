import { Group, Kbd, Modal, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { usePrefs } from '../../lib/prefs'
import { useWords } from '../../ui/text'
import { PAGES } from '../pages'
import { useText } from '../text'
import { useShortcutText } from './shortcutText'

export function ShortcutHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useText()
  const w = useWords()
  const s = useShortcutText()
  const k = s.key
  const { keys } = usePrefs()
  const goes = PAGES.filter((page) => page.key).map((page) => [
    `g ${page.key}`,
    `${t.goTo}: ${t[page.word]}`,
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
    <Modal
      opened={opened}
      onClose={onClose}
      title={s.keysTitle}
      size="lg"
      closeButtonProps={{ 'aria-label': w.close }}
    >
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
    </Modal>
  )
}
