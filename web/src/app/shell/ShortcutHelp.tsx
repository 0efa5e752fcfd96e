import { Group, Kbd, Modal, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { usePrefs } from '../../lib/prefs'
import { useWords } from '../../ui/text'
import { PAGES } from '../pages'
import { useText } from '../text'

export function ShortcutHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useText()
  const w = useWords()
  const k = t.key
  const { keys } = usePrefs()
  const goes = PAGES.filter((page) => page.key).map((page) => [
    `g ${page.key}`,
    `${t.goTo}: ${t[page.word]}`,
  ])
  const groups: [string, string[][]][] = [
    [t.groups.everywhere, [['Ctrl K', k.palette], ['?', k.help], ...(goes as string[][])]],
    [
      t.groups.lists,
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
      t.groups.log,
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
      t.groups.forms,
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
      title={t.keysTitle}
      size="lg"
      closeButtonProps={{ 'aria-label': w.close }}
    >
      {keys ? null : <Text size="sm">{t.keysOff}</Text>}
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
